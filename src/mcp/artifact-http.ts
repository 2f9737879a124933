import { z } from 'zod'
import type { ToolCaller } from '../collab/agent-tools.js'
import type { Language } from '../collab/delivery.js'
import { rejected, shown, type Answer } from './answer.js'
import { bodyLimitBytes, textWithin } from './guard.js'
import { eventIdOf, performing } from './perform.js'
import { doorWords, problem, responseOf } from './problem.js'
import { artifactId, fileName, key, requestId } from './schemas.js'
import type { McpDeps } from './server.js'
import { misread } from './tool.js'
import { answerOfPut } from './tools-artifacts.js'

const OCTETS = 'application/octet-stream'

const putWords = z.strictObject({ request: requestId, fileName })
const getWords = z.strictObject({ request: requestId, artifact: artifactId })

/**
 * The two file tools with plain bytes instead of JSON, for files that are too large for one call:
 * `POST …/artifact_put?request=&fileName=` with `content-type: application/octet-stream`, and `POST …/artifact_get` with
 * `accept: application/octet-stream`.
 *
 * @returns null when the call is made in JSON, as every other one
 */
export async function bytesCall(
  deps: McpDeps,
  caller: ToolCaller,
  tool: string,
  request: Request,
  language: Language,
): Promise<Response | null> {
  if (tool === 'artifact_put' && isOctets(request.headers.get('content-type'))) {
    return await put(deps, caller, request, language)
  }
  if (tool === 'artifact_get' && isOctets(request.headers.get('accept'))) {
    return await get(deps, caller, request, language)
  }
  return null
}

const isOctets = (header: string | null): boolean => header?.split(';')[0]?.trim().toLowerCase() === OCTETS

async function put(deps: McpDeps, caller: ToolCaller, request: Request, language: Language): Promise<Response> {
  const named = key.safeParse(request.headers.get('idempotency-key') ?? undefined)
  if (named.data === undefined) {
    const code = 'idempotency-key-missing'
    return problem(400, code, doorWords[code][language], language)
  }
  const words = putWords.safeParse(Object.fromEntries(new URL(request.url).searchParams))
  if (!words.success) return responseOf(misread(words.error), language)
  const eventId = eventIdOf(caller, 'artifact_put', 'key', named.data)
  const answer = await performing(deps, 'artifact_put', async () =>
    answerOfPut(await deps.tools.artifactPut(caller, { ...words.data, eventId, bytes: request.body ?? nothing() })),
  )
  return responseOf(answer, language)
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function get(deps: McpDeps, caller: ToolCaller, request: Request, language: Language): Promise<Response> {
  const text = await textWithin(request, bodyLimitBytes)
  if (text === null) return problem(413, 'body-too-large', doorWords['body-too-large'][language], language)
  const words = getWords.safeParse(parsed(text))
  if (!words.success) return responseOf(misread(words.error), language)
  let response: Response | null = null
  const answer = await performing(deps, 'artifact_get', async (): Promise<Answer> => {
    const got = await deps.tools.artifactGet(caller, words.data)
    if (got === null) return shown(null)
    const iterator = got.bytes[Symbol.asyncIterator]()
    // Before the answer begins: what is gone or damaged is a refusal, not a file that breaks off.
    const first = await iterator.next().catch(() => null)
    if (first === null) return rejected({ reason: 'artifact-unreadable' })
    response = download(got.file, streamOf(first, iterator))
    return shown({})
  })
  return response ?? responseOf(answer, language)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Never shown in place, whatever it claims to be. The digest is RFC 9530's. */
function download(
  file: { readonly fileName: string; readonly size: number; readonly digest: string; readonly mediaType: string },
  body: ReadableStream<Uint8Array>,
): Response {
  return new Response(body, {
    headers: {
      'content-type': OCTETS,
      'content-length': String(file.size),
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.fileName).replaceAll("'", '%27')}`,
      'repr-digest': `sha-256=:${Buffer.from(file.digest, 'hex').toString('base64')}:`,
      'x-media-type': file.mediaType,
      'cache-control': 'no-store',
    },
  })
}

function streamOf(first: IteratorResult<Uint8Array>, iterator: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array> | null = first
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = next ?? (await iterator.next())
      next = null
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
