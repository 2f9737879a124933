import { Option, type Command } from 'commander'
import type { Json } from './client.js'
import { finish, firstLine, list, object, plain, timeText, type Cx } from './context.js'
import { exitCodes, type ExitCode } from './io.js'
import { workWords, type WorkWords } from './work-words.js'

type Options = Readonly<Record<string, unknown>>

/** `goal`, `agent` and `todo`: what the operator does with the work owner. */
export function workCommands(
  program: Command,
  cx: () => Cx,
  language: Cx['language'],
  end: (code: ExitCode) => void,
): void {
  const words = workWords[language]
  const json = () => new Option('--json', words.json)

  const goal = program.command('goal').description(words.goal)
  goal
    .command('create <title...>')
    .description(words.goalCreate)
    .option('--id <id>', words.goalId)
    .option('--direction <text>', words.direction)
    .option('--acceptance <text>', words.acceptance)
    .option('--non-goals <text>', words.nonGoals)
    .option('--key <key>', words.key)
    .addOption(json())
    .action(async (title: string[], options: Options) => end(await createGoal(cx(), title.join(' '), options)))
  goal
    .command('list')
    .description(words.goalList)
    .option('--stopped', words.stopped)
    .addOption(json())
    .action(async (options: Options) => end(await shown(cx(), '/api/v1/goals', options, goalRow)))
  for (const act of ['stop', 'resume'] as const) {
    goal
      .command(`${act} <id>`)
      .description(act === 'stop' ? words.goalStop : words.goalResume)
      .option('--key <key>', words.key)
      .addOption(json())
      .action(async (id: string, options: Options) =>
        end(await write(cx(), `/api/v1/goals/${encodeURIComponent(id)}/${act}`, {}, options)),
      )
  }

  // `agent token` stands elsewhere.
  const agent = program.commands.find((command) => command.name() === 'agent') ?? program.command('agent')
  agent.description(words.agent)
  agent
    .command('register <agent>')
    .description(words.agentRegister)
    .requiredOption('--goal <id>', words.ofGoal)
    .requiredOption('--role <text>', words.role)
    .requiredOption('--responsibility <text>', words.responsibility)
    .option('--host <name>', words.host)
    .addOption(new Option('--runtime <runtime>', words.runtime).choices(['codex', 'claude', 'acp', 'rehearsal']))
    .option('--command <line>', words.command)
    .option('--ability <word...>', words.ability)
    .option('--capacity <n>', words.capacity)
    .option('--key <key>', words.key)
    .addOption(json())
    .action(async (name: string, options: Options) => end(await registerAgent(cx(), name, options)))
  agent
    .command('list')
    .description(words.agentList)
    .option('--stopped', words.stopped)
    .addOption(json())
    .action(async (options: Options) => end(await shown(cx(), '/api/v1/agents', options, agentRow)))

  // `todo claim` stands elsewhere.
  const todo = program.commands.find((command) => command.name() === 'todo') ?? program.command('todo')
  todo.description(words.todo)
  todo
    .command('list <goal>')
    .description(words.todoList)
    .addOption(json())
    .action(async (id: string, options: Options) =>
      end(await shown(cx(), `/api/v1/goals/${encodeURIComponent(id)}/todos`, options, todoRow)),
    )
}

function createGoal(cx: Cx, title: string, options: Options): Promise<ExitCode> {
  const { id, direction, acceptance, nonGoals } = options
  return write(cx, '/api/v1/goals', given({ title, id, direction, acceptance, nonGoals }), options)
}

async function registerAgent(cx: Cx, agent: string, options: Options): Promise<ExitCode> {
  const { goal, role, responsibility, host, runtime, command, ability, capacity } = options
  const words = workWords[cx.language]
  const wrong =
    (runtime === 'acp') !== (command !== undefined)
      ? words.commandWrong
      : capacity !== undefined && !/^[1-9]\d?$/.test(String(capacity))
        ? words.capacityWrong
        : null
  if (wrong !== null) {
    cx.io.stderr(`${wrong}\n`)
    return exitCodes.usage
  }
  const endpoint = runtime === undefined ? { kind: 'attached' } : given({ kind: 'managed', runtime, command })
  const body = given({
    agent,
    goal,
    role,
    responsibility,
    host,
    endpoint,
    abilities: ability,
    capacity: capacity === undefined ? undefined : Number(capacity),
  })
  return await write(cx, '/api/v1/agents', body, options)
}

/** Sends one command under its key and prints what it touched, or its whole receipt. */
async function write(cx: Cx, path: string, body: object, options: Options): Promise<ExitCode> {
  const key = options['key']
  const headers = { 'idempotency-key': typeof key === 'string' ? key : cx.client.newId() }
  const answer = await cx.client.post(path, body, headers)
  return finish(cx, answer, options['json'] === true, (done) => {
    const refs = list(object(done['receipt'])['refs'])
    return [
      `${plain(done['outcome'])}: ${refs.map((ref) => `${plain(ref['ref'])} @${plain(ref['revision'])}`).join(', ')}`,
    ]
  })
}

type Row = (item: Json, words: WorkWords) => string

async function shown(cx: Cx, path: string, options: Options, row: Row): Promise<ExitCode> {
  const answer = await cx.client.get(path + (options['stopped'] === true ? '?stopped=true' : ''))
  return finish(cx, answer, options['json'] === true, (body) => {
    const items = list(body['items'])
    return items.length === 0 ? [cx.words.nothing] : items.map((item) => row(item, workWords[cx.language]))
  })
}

const given = (body: Options): Options => Object.fromEntries(Object.entries(body).filter(([, v]) => v !== undefined))

function goalRow(goal: Json, words: WorkWords): string {
  const counts = `${words.agents} ${plain(goal['agents'])}, ${words.openTodos} ${plain(goal['openTodos'])}`
  return `${plain(goal['id'])}  ${plain(goal['state']).padEnd(7)}  ${counts}  ${firstLine(goal['title'], 80)}`
}

function agentRow(agent: Json, words: WorkWords): string {
  const endpoint = object(agent['endpoint'])
  const how = plain(endpoint[endpoint['kind'] === 'managed' ? 'runtime' : 'kind'])
  const reachable = agent['reachable']
  const reached = reachable === null ? words.notTried : reachable === true ? words.reachable : words.unreachable
  const seen = `${reached}, ${words.lastSeen} ${timeText(agent['lastEvidenceAt'])}`
  const where = `${plain(agent['goal'])} (${plain(agent['goalState'])})`
  const does = `${firstLine(agent['role'], 40)}: ${firstLine(agent['responsibility'], 80)}`
  return [plain(agent['agent']), where, how, seen, does].join('  ')
}

function todoRow(todo: Json, words: WorkWords): string {
  const { agent, epoch, until } = object(todo['claim'])
  const held =
    todo['claim'] === null
      ? ''
      : `  [${plain(agent)}, ${words.epoch} ${plain(epoch)}, ${words.until} ${timeText(until)}]`
  const state = `${plain(todo['state']).padEnd(7)}  @${plain(todo['revision'])}`
  return `${plain(todo['id'])}  ${state}  ${firstLine(todo['title'], 80)}${held}`
}
