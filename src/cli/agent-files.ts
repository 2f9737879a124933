import { sha256 } from '../lib/digest.js'
import { finish, plain, type Cx } from './context.js'
import type { Json } from './client.js'
import { exitCodes, type ExitCode } from './io.js'

type Options = Readonly<Record<string, unknown>>

const PATH = '/api/v1/agent'

/** `artifact put`: a file of this machine, as plain bytes, with the agent's own token. */
export async function putArtifact(cx: Cx, request: string, path: string, options: Options): Promise<ExitCode> {
  const bytes = (await cx.io.files?.read(path)) ?? null
  if (bytes === null) return failed(cx, cx.words.fileUnreadable)
  const { name, key } = options
  const fileName = typeof name === 'string' ? name : (path.split(/[/\\]/).at(-1) ?? path)
  const query = new URLSearchParams({ request, fileName })
  const answer = await cx.client.upload(`${PATH}/artifact_put?${query.toString()}`, bytes, {
    'idempotency-key': typeof key === 'string' ? key : cx.client.newId(),
  })
  return finish(cx, answer, options['json'] === true, (body) => [String(body['outcome']), ...fileLines(body)])
}

/** `artifact get`: a text to the terminal, or any file to `--out`, which is never written over. */
export async function getArtifact(cx: Cx, request: string, artifact: string, options: Options): Promise<ExitCode> {
  const { out } = options
  if (typeof out === 'string') return await saved(cx, { request, artifact }, out)
  const answer = await cx.client.post(`${PATH}/artifact_get`, { request, artifact }, {})
  return finish(cx, answer, options['json'] === true, (body) =>
    typeof body['text'] === 'string' ? [plain(body['text'])] : [...fileLines(body), cx.words.useOut],
  )
}

async function saved(cx: Cx, said: object, out: string): Promise<ExitCode> {
  const answer = await cx.client.download(`${PATH}/artifact_get`, said)
  if (answer.got !== 'file') return finish(cx, answer, false, () => [])
  const digest = sha256(answer.bytes)
  // What the gateway has on record and what came over the line are the same file, or it is not kept.
  if (digestIn(answer.headers) !== digest) return failed(cx, cx.words.fileDamaged)
  const written = (await cx.io.files?.write(out, answer.bytes)) ?? 'failed'
  if (written !== 'written') return failed(cx, written === 'exists' ? cx.words.fileExists : cx.words.fileNotWritten)
  cx.io.stdout(`${answer.bytes.length}  sha256 ${digest}\n`)
  return exitCodes.ok
}

function digestIn(headers: Headers): string | null {
  const said = /sha-256=:([A-Za-z0-9+/=]+):/.exec(headers.get('repr-digest') ?? '')?.[1]
  return said === undefined ? null : Buffer.from(said, 'base64').toString('hex')
}

const fileLines = (file: Json): readonly string[] => [
  `${plain(file['artifact'])}  ${plain(file['fileName'])}  ${plain(file['mediaType'])}  ${plain(file['size'])}  sha256 ${plain(file['digest'])}`,
]

function failed(cx: Cx, words: string): ExitCode {
  cx.io.stderr(`${words}\n`)
  return exitCodes.refused
}
