import { Option, type Command } from 'commander'
import { ask, assess, claimTodo, issueToken, linkWork, readInbox, report } from './agent-acts.js'
import { getArtifact, putArtifact } from './agent-files.js'
import type { Cx } from './context.js'
import { exitCodes, type CliIo, type ExitCode } from './io.js'
import type { CliWords } from './words.js'

type Given = Record<string, unknown>

/**
 * What an agent, or the script that stands for one, says from a terminal: `inbox`, `ask`, `artifact` and `mcp` with the
 * agent's own token; and `agent token`, the operator's.
 */
export function agentCommands(
  program: Command,
  on: {
    readonly io: CliIo
    readonly words: CliWords
    /** With the operator's token. */
    readonly cx: () => Cx
    readonly end: (code: ExitCode) => void
  },
): void {
  const { io, words, cx, end } = on
  const token = () => program.opts<{ token?: string }>().token ?? io.env.agentToken ?? ''
  const agentCx = (): Cx => {
    const own = cx()
    return { ...own, words: { ...words, tokenHint: words.agentTokenHint }, client: own.client.withToken(token()) }
  }
  const json = new Option('--json', words.json)
  const key = new Option('--key <key>', words.key)
  const many = (flags: string, description: string) =>
    new Option(flags, description).argParser((value, before?: string[]) => [...(before ?? []), value])

  const inbox = program.command('inbox').description(words.inbox)
  inbox
    .command('read')
    .description(words.inboxRead)
    .option('--limit <n>', words.limit, '20')
    .option('--cursor <cursor>', words.cursor)
    .addOption(json)
    .action(async (options: Given) => end(await readInbox(agentCx(), options)))
  inbox
    .command('assess <request>')
    .description(words.inboxAssess)
    .requiredOption('--revision <n>', words.revisionSeen)
    .addOption(many('--ask <id>', words.askId).makeOptionMandatory())
    .addOption(
      new Option('--judgment <judgment>', words.judgment).choices(['accepted', 'no-change', 'rejected', 'deferred']),
    )
    .option('--reason <text>', words.reason)
    .addOption(many('--into <question>', words.into))
    .option('--owner <name>', words.deferOwner)
    .option('--recheck <time>', words.recheck)
    .option('--when <condition>', words.when)
    .option('--of <subject>', words.of)
    .addOption(key)
    .addOption(json)
    .action(async (request: string, options: Given) => end(await assess(agentCx(), request, options)))
  inbox
    .command('link <request> <operation>')
    .description(words.inboxLink)
    .addOption(key)
    .addOption(json)
    .action(async (request: string, operation: string, options: Given) =>
      end(await linkWork(agentCx(), request, operation, options)),
    )
  inbox
    .command('report <request> <text...>')
    .description(words.inboxReport)
    .addOption(many('--ask <id>', words.askId).makeOptionMandatory())
    .option('--conclusion <text>', words.conclusion)
    .addOption(many('--artifact <id>', words.artifact))
    .option('--supersedes <result>', words.supersedes)
    .addOption(key)
    .addOption(json)
    .action(async (request: string, text: string[], options: Given) =>
      end(await report(agentCx(), request, text.join(' '), options)),
    )

  program
    .command('ask <request> <receiver> <question...>')
    .description(words.ask)
    .addOption(
      new Option('--intent <intent>', words.intent)
        .choices(['consultation', 'delegation', 'ownership-transfer'])
        .default('consultation'),
    )
    .addOption(many('--ask <id>', words.askId))
    .requiredOption('--brief <text>', words.brief)
    .addOption(many('--ref <id>', words.ref))
    .requiredOption('--reason <text>', words.reason)
    .option('--direct', words.direct)
    .addOption(key)
    .addOption(json)
    .action(async (request: string, receiver: string, question: string[], options: Given) =>
      end(await ask(agentCx(), request, receiver, question.join(' '), options)),
    )

  const todo = program.commands.find((command) => command.name() === 'todo') ?? program.command('todo')
  todo
    .command('claim <goal> <todo>')
    .description(words.todoClaim)
    .option('--lease-ms <n>', words.leaseMs)
    .option('--release <epoch>', words.release)
    .addOption(key)
    .addOption(json)
    .action(async (goal: string, id: string, options: Given) => end(await claimTodo(agentCx(), goal, id, options)))

  const artifact = program.command('artifact').description(words.artifacts)
  artifact
    .command('put <request> <file>')
    .description(words.artifactPut)
    .option('--name <name>', words.fileName)
    .addOption(key)
    .addOption(json)
    .action(async (request: string, file: string, options: Given) =>
      end(await putArtifact(agentCx(), request, file, options)),
    )
  artifact
    .command('get <request> <artifact>')
    .description(words.artifactGet)
    .option('--out <file>', words.out)
    .addOption(json)
    .action(async (request: string, id: string, options: Given) =>
      end(await getArtifact(agentCx(), request, id, options)),
    )

  const agent = program.commands.find((command) => command.name() === 'agent') ?? program.command('agent')
  if (agent.description() === '') agent.description(words.agents)
  agent
    .command('token <agent>')
    .description(words.agentToken)
    .option('--session <name>', words.session)
    .addOption(json)
    .action(async (name: string, options: Given) => end(await issueToken(cx(), name, options)))

  program
    .command('mcp')
    .description(words.mcp)
    .action(async () => {
      const bearer = token()
      if (bearer === '' || io.stdio === undefined) {
        io.stderr(`${words.agentTokenHint}\n`)
        return end(exitCodes.usage)
      }
      // Loaded only here: no other command needs the protocol.
      const { runBridge } = await import('./bridge.js')
      await runBridge({ url: program.opts<{ url: string }>().url, token: bearer, stdio: io.stdio, fetch: io.fetch })
      end(exitCodes.ok)
    })
}
