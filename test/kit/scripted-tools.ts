import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { McpServer } from '@agentclientprotocol/sdk'

/** How the prompt carries an origin message, any message, and what came back. */
const originMessage =
  /^Origin message \S+, written by [^\n]*, verbatim:\n< < <message>>>\n([^]*?)\n< < <end of message>>>$/gmu
const quoted = /^(?:<<<|< < <)message>>>\n[^]*?\n(?:<<<|< < <)end of message>>>$/gmu
const cameBack =
  /^Came back from [^\n]* \((?:resolved|rejected|cancelled|failed)\):\n([^]*?)(?=\n\n[A-Z][^\n]*:\n|\n\nAnswer in |$(?![^]))/mu

/** The section of a later prompt that recalls what earlier turns took up. */
const recalled = /^Taken up in an earlier turn[^\n]*:\n((?:- .*(?:\n|$))+)/mu

/** What a later prompt tells of work that began before: briefs, and what happened since. */
const beside =
  /^(?:Saved by|Happened after|Nothing was saved|Before this,)[^\n]*:\n[^]*?(?=\n\n[A-Z][^\n]*:\n|\n\nAn(?:swer in| earlier)|$(?![^]))/gmu
/** The first effect that it says is in doubt. */
const inDoubt = /^- the effect (\S+) \(/mu

type Json = Readonly<Record<string, unknown>>

/**
 * The tools of one session of the scripted agent. What it read last stands behind names that a directive may use:
 * `$request` `$revision` `$asks` `$ask`, from the prompt or from the first item of the last inbox_read; `$origins` (the
 * origin messages), `$returned` (what came back) and `$recalled` (what earlier turns took up), as the prompt carried
 * them; `$beside` (briefs and what happened since), and `$doubt`, the effect that is in doubt, likewise; `$waiting`, the oldest other open request of the last exchange_list, and `$answered`, its newest closed one;
 * `$child`, of the last ask_agent; `$best`, the first that the last discover_agents says may be asked; and
 * `$last.member`, from the last answer, over as many levels as it has.
 */
export class ScriptedTools {
  readonly #servers: readonly McpServer[]
  #client: Promise<Client> | null = null
  #known: Record<string, unknown> = {}
  #last: Json = {}
  #read: Json = {}
  #child: unknown = undefined
  #best: unknown = undefined

  constructor(servers: readonly McpServer[]) {
    this.#servers = servers
  }

  /** Reads the ids that the gateway wrote into the prompt, outside the message. */
  readPrompt(prompt: string): void {
    const head = /Request (\S+), revision (\d+)\./u.exec(prompt)
    if (head !== null) this.#know(head[1] ?? '', Number(head[2]), [])
    const asked = /^Asked, by id[^\n]*:\n((?:- .*(?:\n|$))+)/mu.exec(prompt)?.[1] ?? ''
    const asks = [...asked.matchAll(/^- (\S+): /gmu)].map(([, id]) => id ?? '')
    if (asks.length > 0) this.#known = { ...this.#known, asks, ask: asks[0] }
    const origins = [...prompt.matchAll(originMessage)].map(([, text]) => text ?? '')
    const returned = cameBack.exec(prompt.replaceAll(quoted, ''))?.[1]?.replaceAll(/^> ?/gmu, '') ?? null
    const told = recalled.exec(prompt.replaceAll(quoted, ''))?.[1] ?? 'nothing recalled'
    const own = prompt.replaceAll(quoted, '')
    const carried = [...own.matchAll(beside)].map(([text]) => text).join('\n\n')
    this.#read = {
      origins: origins.join('\n'),
      returned,
      recalled: told,
      beside: carried,
      doubt: inDoubt.exec(own)?.[1],
    }
  }

  /** Whether a condition of a directive holds for the prompt that was read. */
  says(condition: string): boolean {
    const revision = /^revision=(\d+)$/u.exec(condition)?.[1]
    if (revision !== undefined) return this.#known['revision'] === Number(revision)
    if (condition === 'returned') return this.#read['returned'] !== null
    if (condition === 'continued') return this.#read['beside'] !== ''
    throw new Error(`no condition ${condition}`)
  }

  /** Calls a tool for real; the answer as one line. A connection that fails is told, not thrown. */
  async call(name: string, argumentsText: string): Promise<string> {
    try {
      const given = this.#fill(JSON.parse(argumentsText === '' ? '{}' : argumentsText)) as Json
      this.#client ??= this.#connect()
      const client = await this.#client
      const { structuredContent } = await client.callTool({ name, arguments: given })
      this.#last = (structuredContent ?? {}) as Json
      if (name === 'inbox_read') this.#readInbox(this.#last)
      if (name === 'exchange_list') this.#readList(this.#last)
      if (name === 'discover_agents') this.#readCandidates(this.#last)
      if (name === 'ask_agent') this.#child = this.#last['child'] ?? this.#child
      return `${name}: ${JSON.stringify(this.#last)}`
    } catch (error) {
      this.#client = null
      return `${name} failed: ${error instanceof Error ? error.message : 'unknown'}`
    }
  }

  /** One judgment for every ask that is known. */
  assess(judgment: string, reason: string): Promise<string> {
    const asks = this.#asks().map((ask) => ({ ask, judgment, reason: reason === '' ? 'as written' : reason }))
    return this.call('assess_request', JSON.stringify({ request: '$request', onRevision: '$revision', asks }))
  }

  /** One result for every ask that is known. */
  report(text: string): Promise<string> {
    return this.call('report_result', JSON.stringify({ request: '$request', covers: '$asks', text }))
  }

  #asks(): readonly unknown[] {
    return (this.#known['asks'] as readonly unknown[] | undefined) ?? []
  }

  #know(request: unknown, revision: unknown, asks: readonly unknown[]): void {
    this.#known = { request, revision, asks, ask: asks[0] }
  }

  #readInbox(answer: Json): void {
    const [first] = (answer['items'] ?? []) as readonly {
      readonly request: string
      readonly revision: number
      readonly asks: readonly { readonly id: string }[]
    }[]
    if (first === undefined) return
    this.#know(
      first.request,
      first.revision,
      first.asks.map((ask) => ask.id),
    )
  }

  #readCandidates(answer: Json): void {
    const items = (answer['items'] ?? []) as readonly { readonly agent: string; readonly admitted: boolean }[]
    this.#best = items.find(({ admitted }) => admitted)?.agent
  }

  #readList(answer: Json): void {
    const items = (answer['items'] ?? []) as readonly { readonly id: string; readonly state: string }[]
    const waiting = items.findLast(({ id, state }) => id !== this.#known['request'] && state === 'open')
    const answered = items.find(({ id, state }) => id !== this.#known['request'] && state === 'closed')
    this.#read = { ...this.#read, waiting: waiting?.id, answered: answered?.id }
  }

  #fill(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#fill(item))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, this.#fill(inner)]))
    }
    if (typeof value !== 'string') return value
    const name = /^\$([\w.]+)$/u.exec(value)?.[1]
    if (name === undefined) return value
    if (name.startsWith('last.')) {
      const members = name.slice(5).split('.')
      return members.reduce<unknown>((of, member) => (of as Json | undefined)?.[member], this.#last) ?? value
    }
    return { child: this.#child, best: this.#best, ...this.#read, ...this.#known }[name] ?? value
  }

  async #connect(): Promise<Client> {
    const server = this.#servers[0]
    if (server === undefined) throw new Error('no tools were given')
    const client = new Client({ name: 'scripted-agent', version: '1.0.0' })
    const transport =
      'command' in server
        ? new StdioClientTransport({
            command: server.command,
            args: server.args,
            env: Object.fromEntries(server.env.map(({ name, value }) => [name, value])),
            stderr: 'ignore',
          })
        : new StreamableHTTPClientTransport(new URL(server.url), {
            requestInit: { headers: Object.fromEntries(server.headers.map(({ name, value }) => [name, value])) },
          })
    // The SDK's own types do not bear `exactOptionalPropertyTypes`.
    await client.connect(transport as Parameters<Client['connect']>[0])
    return client
  }
}
