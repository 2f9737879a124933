import { finish, list, plain, type Cx } from './context.js'
import { exitCodes, type ExitCode } from './io.js'

const marks: Readonly<Record<string, string>> = { ok: 'ok      ', warning: 'warning ', failed: 'FAILED  ' }

/** Settings without secrets and what stands still. Warnings end well; a failed row ends with 1. */
export async function doctor(cx: Cx, options: Readonly<Record<string, unknown>>): Promise<ExitCode> {
  const answer = await cx.client.get('/api/v1/doctor')
  const code = finish(cx, answer, options['json'] === true, (report) => [
    `lark-manager ${plain(report['version'])}`,
    ...managerLines(report['manager']),
    '',
    ...list(report['settings']).map(
      (setting) =>
        `${plain(setting['name'])}=${plain(setting['value'])}${setting['from'] === 'default' ? ` (${cx.words.byDefault})` : ''}`,
    ),
    '',
    ...list(report['checks']).flatMap((check) => [
      `${marks[String(check['state'])] ?? String(check['state'])}${plain(check['name'])}: ${plain(check['detail'])}`,
      ...(check['mend'] === null ? [] : [`        → ${plain(check['mend'])}`]),
    ]),
  ])
  if (code !== exitCodes.ok || answer.got !== 'answer') return code
  return list(answer.body['checks']).some((check) => check['state'] === 'failed') ? exitCodes.refused : exitCodes.ok
}

/** The manager in one line: endpoint, on whose account, model, and what each was taken from. */
function managerLines(manager: unknown): readonly string[] {
  if (typeof manager !== 'object' || manager === null) return []
  const field = (name: string): string | null => {
    const value = (manager as Readonly<Record<string, unknown>>)[name]
    return value === null || value === undefined ? null : plain(value)
  }
  const of = (name: string, source: string): string => {
    const from = field(source)
    return `${field(name) ?? '?'}${from === null ? '' : ` (${from})`}`
  }
  const parts = [of('endpoint', 'endpointSource'), field('executorKind') ?? '?', of('model', 'modelSource')]
  if (field('credential') !== null) parts.push(`credential: ${field('credential')}`)
  const why = field('unavailableReason')
  return [`manager: ${parts.join(' · ')}`, ...(why === null ? [] : [`         ${why}`])]
}
