import { Option, type Command } from 'commander'
import { chatCommandOf } from '../collab/chat-command.js'
import { quietHoursText, type QuietHours } from '../collab/quiet-hours.js'
import type { Json } from './client.js'
import { finish, list, object, plain, timeText, type Cx } from './context.js'
import { exitCodes, type ExitCode } from './io.js'
import type { CliWords } from './words.js'

type Options = Readonly<Record<string, unknown>>

/** `chat list|show|set|remove`: who may start work in which chat. A chat is a chat id, or `all`. */
export function chatCommands(
  program: Command,
  on: { readonly words: CliWords; readonly cx: () => Cx; readonly end: (code: ExitCode) => void },
): void {
  const { words, cx, end } = on
  const chat = program.command('chat').description(words.chats)
  const json = new Option('--json', words.json)
  chat
    .command('list')
    .description(words.chatList)
    .addOption(json)
    .action(async (options: Options) => end(await listChats(cx(), options)))
  chat
    .command('show <bot> <chat>')
    .description(words.chatShow)
    .addOption(json)
    .action(async (bot: string, id: string, options: Options) => end(await showChat(cx(), pathOf(bot, id), options)))
  chat
    .command('set <bot> <chat> <settings...>')
    .description(words.chatSet)
    .option('--key <key>', words.key)
    .action(async (bot: string, id: string, settings: string[], options: Options) =>
      end(await setChat(cx(), pathOf(bot, id), settings, options)),
    )
  chat
    .command('remove <bot> <chat> <openId>')
    .description(words.chatRemove)
    .option('--key <key>', words.key)
    .action(async (bot: string, id: string, openId: string, options: Options) =>
      end(await removeMember(cx(), pathOf(bot, id), openId, options)),
    )
}

const pathOf = (bot: string, chat: string) => `/api/v1/chats/${encodeURIComponent(bot)}/${encodeURIComponent(chat)}`

async function listChats(cx: Cx, options: Options): Promise<ExitCode> {
  return finish(cx, await cx.client.get('/api/v1/chats'), options['json'] === true, (body) => {
    const items = list(body['items'])
    if (items.length === 0) return [cx.words.nothing]
    return items.map((item) => `${plain(item['bot'])}  ${plain(item['chat'])}  ${String(item['revision'])}`)
  })
}

async function showChat(cx: Cx, path: string, options: Options): Promise<ExitCode> {
  return finish(cx, await cx.client.get(`${path}/policy`), options['json'] === true, (body) => [
    `${cx.words.revisionWord} ${String(body['revision'])}${body['setBy'] === null ? '' : `  ${plain(body['setBy'])}  ${timeText(body['setAt'])}`}`,
    ...(body['readable'] === true ? [] : [cx.words.chatUnreadable]),
    ...(body['isolated'] === true ? [] : [cx.words.chatNotIsolated]),
    ...Object.entries(object(body['effective'])).map(([name, value]) => lineOf(name, value, object(body['settings']))),
    ...list(body['members']).map(
      (one) =>
        `${plain(one['openId'])}${one['everywhere'] === true ? '  all' : ''}  ${String(one['started'])}/${one['starts'] === null ? '-' : String(one['starts'])}  ${timeText(one['until'])}  ${plain(one['admittedBy'])}`,
    ),
  ])
}

/** A star marks what this chat sets for itself. */
function lineOf(name: string, value: unknown, own: Json): string {
  const said = name === 'quiet' && value !== null ? quietHoursText(value as QuietHours) : String(value ?? '-')
  return `${Object.hasOwn(own, name) ? '*' : ' '} ${name}: ${said}`
}

/** The words of `/chat`, over what the chat sets for itself now. */
async function setChat(cx: Cx, path: string, said: readonly string[], options: Options): Promise<ExitCode> {
  const command = chatCommandOf(`/chat ${said.join(' ')}`)
  if (command?.does !== 'set') {
    const wrong = command?.does === 'nothing' ? command.wrong : said.join(' ')
    cx.io.stderr(`${cx.words.chatWrong} ${plain(wrong)}\n`)
    return exitCodes.usage
  }
  const seen = await cx.client.get(`${path}/policy`)
  if (seen.got !== 'answer') return finish(cx, seen, false, () => [])
  const answer = await cx.client.put(
    `${path}/policy`,
    { ...object(seen.body['settings']), ...command.settings },
    { 'idempotency-key': keyOf(cx, options), 'if-match': `"${String(seen.body['revision'])}"` },
  )
  return finish(cx, answer, false, (body) => [`${cx.words.revisionWord} ${String(body['revision'])}`])
}

async function removeMember(cx: Cx, path: string, openId: string, options: Options): Promise<ExitCode> {
  const headers = { 'idempotency-key': keyOf(cx, options) }
  const answer = await cx.client.post(`${path}/members/${encodeURIComponent(openId)}/remove`, {}, headers)
  return finish(cx, answer, false, (body) => [String(body['ended'])])
}

const keyOf = (cx: Cx, options: Options): string =>
  typeof options['key'] === 'string' ? options['key'] : cx.client.newId()
