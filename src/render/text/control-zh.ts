import type { Choice } from '../../collab/choice.js'
import type { AgentFacts, HeldBecause, StatusOfPlace } from '../../collab/notice.js'
import type { ControlCatalogue } from './control.js'
import { beginning } from './limited.js'

/** What is said around control words and buttons. */
export const controlZh: ControlCatalogue = {
  'late-released': ({ count, results = 0 }) =>
    said([
      count === 0 ? '' : `${count} 条消息正在按顺序执行。`,
      results === 0 ? '' : `保留的 ${results} 个结果现在发出。`,
    ]),
  'late-skipped': ({ count, results = 0 }) =>
    said([
      count === 0 ? '' : `已放下 ${count} 条消息，之后不会执行。`,
      results === 0 ? '' : `已丢弃保留的 ${results} 个结果。`,
    ]),
  'newest-released': ({ skipped }) => `正在执行最新的一条消息。${skipped === 0 ? '' : `之前的 ${skipped} 条已略过。`}`,
  'nothing-held': () => '这里没有等待中的消息。',
  'late-control': ({ word, minutes }) =>
    `${beginning(word)} 发于${ago(minutes)}，到达太晚，因此没有执行，也没有改变任何事情。`,
  stopping: ({ turns }) => `正在停止这里的 ${turns} 项执行，结束后会在这里告知。`,
  stopped: ({ turns, finished, queued }) =>
    said([
      finished === 0 ? '' : '刚才的执行恰好已经完成，它的回答有效。',
      turns === 0 ? '' : `已停止：正在执行的 ${turns} 项已结束，没有给出回答；已经做完的部分保持不变。`,
      turns + queued === 0
        ? ''
        : turns === 0
          ? `排队的 ${queued} 条消息已暂停，不会自动开始。`
          : queued === 0
            ? '被停止的消息已暂停，不会自动开始。'
            : `被停止的消息和排在后面的 ${queued} 条消息已暂停，都不会自动开始。`,
      turns + queued === 0 ? '' : words,
    ]),
  'nothing-running': ({ held }) =>
    said([
      '这里没有正在执行的内容。',
      held === 0 ? '' : `${held} 条消息处于暂停状态，不会自动开始。`,
      held === 0 ? '' : words,
    ]),
  'fresh-context': ({ owed, running }) =>
    said([
      '从这里开始新对话：下一条消息不再带上之前的内容。',
      running === 0 ? '' : '正在执行的内容会在旧对话中完成并照常回答，可用 /stop 结束它。',
      owed === 0 ? '' : `之前还有 ${owed} 条消息留在旧对话中，已暂停，不会进入新对话。`,
      owed === 0 ? '' : words,
    ]),
  'result-withheld': () =>
    '这里有一条消息在处理期间被撤回。结果已保存，没有发送。发送 /run 在这里显示，或发送 /skip 丢弃。',
  'edit-taken-up': () =>
    '你在我开始处理之后修改了消息。新的内容已记下，接下来按新的内容处理；在那之前的回答针对原来的内容。',
  'edited-after-answer': () => '你在我回答之后修改了消息。现有的回答针对原来的内容。要按新的内容再处理一次吗？',
  'edit-left': () => '回答保持不变。',
  status: ({ status }) => statusOf(status),
  help: () =>
    [
      '以下每一个都要单独作为一条消息发送：',
      '/状态 · 这里还欠着什么，在等什么（也可用 /status）',
      '/停止 · 结束这里正在执行的内容，并暂停排在后面的消息（也可用 /stop）',
      '/运行 · 开始暂停的消息，或显示保留的结果（也可用 /run）',
      '/跳过 · 放下暂停的消息，或丢弃保留的结果（也可用 /skip）',
      '/新对话 · 从下一条消息起开始新对话（也可用 /new）',
      '/助手 · 可以请谁协助，以及对每一位了解多少（也可用 /agents）',
      '/聊天 · 这里谁可以启动工作、何时可以，以及如何修改（也可用 /chat）',
      '/帮助 · 这份列表（也可用 /help）',
      '其他内容都会作为消息交给我。',
    ].join('\n'),
  agents: ({ agents, more }) =>
    agents.length === 0
      ? '没有登记其他助手，我独自工作。'
      : ['已登记的助手：', ...agents.map(agentLine), more === 0 ? '' : `另有 ${more} 位，见助手页面。`]
          .filter((line) => line !== '')
          .join('\n'),
  'choice-not-yours': () => '这里只有所有者可以决定。没有任何改变。',
  'choice-unknown': () => '这个按钮所属的内容已不在这里。没有任何改变。',
  'choice-made': ({ act }) => `已经决定过了：${decided[act]}。`,
  'choice-under-way': () => '已收到，稍后这张卡片会显示结果。',
}

/** The words on the buttons. */
export const buttonsZh: Readonly<Record<Choice['act'], string>> = {
  stop: '停止',
  'run-held': '全部执行',
  'run-newest': '只执行最新一条',
  'skip-held': '略过',
  'show-result': '在这里显示',
  'drop-result': '丢弃',
  'take-edit': '按新内容处理',
  'leave-edit': '保持不变',
  'allow-once': '允许一次',
  'allow-always': '始终允许',
  'allow-offered': '按所示范围始终允许',
  refuse: '拒绝',
  'admit-here': '仅此聊天',
  'admit-trial': '此聊天，一周',
  'admit-everywhere': '所有聊天',
  'admit-refuse': '拒绝',
}

const decided = buttonsZh

const heldWords: Readonly<Record<Exclude<HeldBecause, 'failed'>, string>> = {
  late: '晚到',
  stopped: '因停止或新对话而暂停',
  backlog: '等待过久或排队过多',
  'result-withheld': '结果被保留',
}

function statusOf(status: StatusOfPlace): string {
  const { told = 0 } = status
  const lines = [
    ...status.running.map(
      (turn) =>
        `${states[turn.state]}，已 ${spoken(turn.seconds)}${turn.agent === null ? '' : `，由 ${turn.agent}`}（${turn.runtime}）：${quoted(turn.about)}`,
    ),
    told === 0 ? '' : `已告知正在进行的一轮：${told} 条消息；没有并入的随后单独处理。`,
    status.waiting === 0 ? '' : `排队中：${status.waiting} 条消息，按顺序执行。`,
    ...status.held.map(({ because, count }) =>
      because === 'failed'
        ? `执行失败：${count} 条消息，发送 /run 可再试一次。`
        : `等你决定：${count} 条消息（${heldWords[because]}）。`,
    ),
    ...status.deferred.map(
      (one) =>
        `已推迟：${quoted(one.about)}（${beginning(one.reason)}）。下一步：${one.owner}，${conditionOf(one.on)}；${spoken(one.seconds)}后再看。`,
    ),
    ...status.handed.map((one) => `已交给 ${one.agent}：${quoted(one.about)}`),
    status.held.every((one) => one.because === 'failed') ? '' : words,
  ].filter((line) => line !== '')
  return lines.length === 0 ? '这里没有未完成的事情。' : lines.join('\n')
}

const states = { starting: '正在启动', working: '正在执行', stopping: '正在停止' } as const

function conditionOf(on: StatusOfPlace['deferred'][number]['on']): string {
  switch (on.when) {
    case 'at':
      return '到时间时'
    case 'request-resolved':
      return `请求 ${on.request.slice(-8)} 完成时`
    case 'host-back':
      return `主机 ${on.host} 恢复时`
    case 'agent-free':
      return `${on.agent} 空闲时`
    case 'answer-from-owner':
      return '你答复之后'
    case 'note':
      return beginning(on.note)
  }
}

function agentLine(one: AgentFacts): string {
  const facts = [
    one.discoverable ? '可发现' : '不可发现',
    one.readable ? '状态可读' : '状态不可读',
    known(one.deliverable, '可送达', '不可送达', '可否送达未知'),
    known(one.executable, '现在可执行', '现在不可执行', '可否执行未知'),
  ]
  return `${one.agent}（${beginning(one.role)}）· ${facts.join(' · ')}`
}

const known = (fact: boolean | null, yes: string, no: string, unknown: string): string =>
  fact === null ? unknown : fact ? yes : no

const said = (sentences: readonly string[]): string => sentences.join('')
const quoted = (text: string): string => `“${beginning(text)}”`
const words = '发送 /run 开始执行，或发送 /skip 略过。'

function ago(minutes: number): string {
  return minutes < 60 ? ` ${minutes} 分钟前` : ` ${Math.floor(minutes / 60)} 小时前`
}

function spoken(seconds: number): string {
  if (seconds < 90) return ` ${Math.round(seconds)} 秒`
  if (seconds < 5_400) return ` ${Math.round(seconds / 60)} 分钟`
  return ` ${Math.round(seconds / 3_600)} 小时`
}
