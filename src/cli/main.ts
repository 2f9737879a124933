import { Command, CommanderError, Option } from 'commander'
import type { Language } from '../collab/delivery.js'
import { cancelRequest, correctRequest } from './act.js'
import { agentCommands } from './agent-commands.js'
import { chatCommands } from './chats.js'
import { createClient } from './client.js'
import { listDeliveries, retryDelivery, showDelivery } from './deliveries.js'
import { doctor } from './doctor.js'
import { grantCommands } from './grants.js'
import { exitCodes, type CliIo, type ExitCode } from './io.js'
import { listRequests, showRequest } from './requests.js'
import { cliWords } from './words.js'
import { sessionCommands } from './sessions.js'
import { workCommands } from './work.js'

/** Runs one command of the HTTP client and says how it ended. `argv` begins after the program's name. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let code: ExitCode = exitCodes.ok
  const program = programOf(io, (ended) => (code = ended), languageIn(argv, io.env.lang))
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // `--help` and `--version` are answers, everything else that commander ends is a wrong call.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  }
}

function programOf(io: CliIo, end: (code: ExitCode) => void, language: Language): Command {
  const words = cliWords[language]
  const program = new Command('lark-manager')
    .exitOverride()
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .addOption(new Option('--lang <lang>', words.lang).choices(['en', 'zh']))
    .option('--url <url>', words.url, io.env.url)
    .option('--token <token>', words.token)
    .hook('preAction', () => {
      const { url } = program.opts<{ url: string }>()
      if (!/^https?:\/\/./i.test(url) || !URL.canParse(url))
        program.error(words.urlWrong, { exitCode: exitCodes.usage })
    })
  const client = () => {
    const { url, token } = program.opts<{ url: string; token?: string }>()
    return createClient({ url, token: token ?? io.env.token, language, fetch: io.fetch, newId: io.newId })
  }
  const cx = () => ({ io, language, words, client: client() })
  const json = new Option('--json', words.json)

  const request = program.command('request').description(words.request)
  request
    .command('list')
    .description(words.requestList)
    .addOption(new Option('--state <state>', words.state).choices(['open', 'closed', 'failed']))
    .option('--conversation <id>', words.conversation)
    .option('--agent <name>', words.agent)
    .option('--limit <n>', words.limit, '20')
    .option('--cursor <cursor>', words.cursor)
    .addOption(json)
    .action(async (options: Record<string, string>) => end(await listRequests(cx(), options)))
  request
    .command('show <id>')
    .description(words.requestShow)
    .addOption(json)
    .action(async (id: string, options: Record<string, unknown>) => end(await showRequest(cx(), id, options)))
  request
    .command('correct <id> <text...>')
    .description(words.requestCorrect)
    .option('--revision <n>', words.revision)
    .option('--key <key>', words.key)
    .action(async (id: string, text: string[], options: Record<string, string>) =>
      end(await correctRequest(cx(), id, text.join(' '), options)),
    )
  request
    .command('cancel <id>')
    .description(words.requestCancel)
    .option('--revision <n>', words.revision)
    .option('--key <key>', words.key)
    .action(async (id: string, options: Record<string, string>) => end(await cancelRequest(cx(), id, options)))

  const delivery = program.command('delivery').description(words.delivery)
  delivery
    .command('list')
    .description(words.deliveryList)
    .addOption(
      new Option('--state <state>', words.state).choices([
        'planned',
        'sending',
        'verified',
        'accepted',
        'failed',
        'parked',
      ]),
    )
    .option('--limit <n>', words.limit, '20')
    .option('--cursor <cursor>', words.cursor)
    .addOption(json)
    .action(async (options: Record<string, string>) => end(await listDeliveries(cx(), options)))
  delivery
    .command('show <id>')
    .description(words.deliveryShow)
    .addOption(json)
    .action(async (id: string, options: Record<string, unknown>) => end(await showDelivery(cx(), id, options)))
  delivery
    .command('retry <id>')
    .description(words.deliveryRetry)
    .option('--part <n>', words.part)
    .addOption(new Option('--decision <decision>', words.decision).choices(['present', 'absent-send', 'give-up']))
    .option('--message <id>', words.seenMessage)
    .option('--key <key>', words.key)
    .action(async (id: string, options: Record<string, string>) => end(await retryDelivery(cx(), id, options)))

  agentCommands(program, { io, words, cx, end })

  sessionCommands(program, { words, cx, end })
  grantCommands(program, { words, cx, language, end })
  chatCommands(program, { words, cx, end })

  workCommands(program, cx, language, end)

  program
    .command('doctor')
    .description(words.doctor)
    .addOption(json)
    .action(async (options: Record<string, unknown>) => end(await doctor(cx(), options)))
  return program
}

/** Known before the options are read: help has a language, too. */
function languageIn(argv: readonly string[], lang: string): Language {
  const at = argv.indexOf('--lang')
  const said = at === -1 ? argv.find((word) => word.startsWith('--lang='))?.slice('--lang='.length) : argv[at + 1]
  return (said ?? lang).toLowerCase().startsWith('zh') ? 'zh' : 'en'
}
