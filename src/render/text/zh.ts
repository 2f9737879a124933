import type { Notice } from '../../collab/notice.js'
import { controlZh } from './control-zh.js'
import { beginning } from './limited.js'
import { cancellationText, tooLateText } from './cancel.js'
import type { Catalogue } from './notice.js'
import { permissionZh } from './permission.js'
import { policyZh } from './policy-zh.js'
import { progressWords } from './progress.js'
import { hostRefusalText } from './refusal.js'
import { whyUndelivered } from './refused.js'

export const zh: Catalogue = {
  'not-an-owner': ({ openId }) => `我只为我的所有者工作，你目前不在其中。可以请部署我的人加上你的 ID：${openId}`,
  'owner-only-in-group': () => '在这个群里，我只为所有者开始工作。你的这条消息不会启动任何事情；所有者可以允许你。',
  'owner-not-bound-yet': () => '你已被列为所有者。请先给我发一条私聊消息，之后我也会在这里回答你。',
  'voice-without-words': () => '我不能把语音转成文字。智能体会收到录音文件，但不一定听得懂；重要的内容写成文字更稳妥。',
  'bots-paused': ({ turns }) =>
    `我在这里已连续回应了其他机器人的 ${turns} 条消息。现在我不再回应机器人，直到有人在本群发言。`,
  'empty-message': () => '这条消息里没有可读的内容。请写下你的需要，或附上文件。',
  'late-held': ({ count, oldestMinutes }) =>
    `有 ${count} 条消息晚到了，最早的一条发于${ago(oldestMinutes)}。它们已保存，尚未执行。发送 /run 开始执行，或发送 /skip 略过。`,
  'backlog-held': ({ count, oldestMinutes }) =>
    `有 ${count} 条消息排在正在进行的一轮之后，因排队过多或等待过久而暂停，最早的一条发于${ago(oldestMinutes)}。它们已保存；排在前面的仍会按顺序执行。发送 /run 随后全部执行，或发送 /skip 略过。`,
  ...controlZh,
  ...policyZh,
  progress: ({ progress }) => progressWords(progress, 'zh'),
  'turn-failed': ({ reason, requestId }) =>
    `${failure[reason]}你的消息已保存，不会自动再次执行。发送 /run 可再试一次，也可以在这里写下接下来怎么做。请求：${requestId}`,
  'runtime-unavailable': ({ detail }) => `现在还不能开始：${detail}。你的消息已保存，恢复后会自动开始。`,
  'answered-in-private': () => '已收到。回答会发到提问者的私聊。',
  'not-confined': ({ detail }) =>
    `这里还不能开始：在别人也能看到的地方提出的请求，只能在隔离的工作目录里运行，而这台主机做不到：${detail}。你的消息已保存，修好后会自动开始。在所有者的私聊里可以照常运行；所有者在这里发送 \`/聊天 所有者=私下\` 之后，自己在这里的请求也可以。`,
  'agent-asked-permission': ({ operation }) =>
    `智能体请求了以下操作，但没有相应的许可，因此没有执行。这并非有人拒绝，而是无人可问或无人及时答复。如需执行，请由所有者提出，并在随后的卡片上允许：${operation}`,
  'ended-with-turn': ({ commands }) =>
    `以下命令已随本轮一并结束（任何命令都不会在本轮之后继续运行）：${commands.map(beginning).join('；')}`,
  'refused-by-host': (notice) => hostRefusalText(notice, 'zh'),
  ...permissionZh,
  'cancel-asked': ({ waitsFor }) => cancellationText({ stands: 'asked', waitsFor, happened: [] }, 'zh'),
  cancelled: () => cancellationText({ stands: 'acknowledged' }, 'zh'),
  'cancel-too-late': (notice) => tooLateText(notice, 'zh'),
  'delivery-failed': ({ arrived, total, reason, page = null }) =>
    total === 0
      ? `有一个回答未能准备好发送（${whyUndelivered(reason, 'zh')}）。已有的内容保存在它的页面上${at(page)}`
      : `有一个回答未能送达提问的地方：${total} 部分中送达了 ${arrived} 部分（${whyUndelivered(reason, 'zh')}）。完整回答保存在它的页面上${at(page)}`,
  'delivery-parked': ({ part, arrived, total, page }) =>
    `有一个回答的第 ${part} 部分（共 ${total} 部分）无法确认是否已送达，因此不会自动继续发送；已确认送达 ${arrived} 部分。请到聊天中查看，然后三选一：已经收到；没有收到，请发送；不再处理。回答和这三个选项都在它的页面上${at(page)}`,
  'answer-withheld': () => '这个回答不能在这里显示，其所有者可以在它的页面上阅读。',
  'answer-withheld-owner': ({ arrived, total, page }) =>
    `飞书的内容审核拒绝了一个回答，因此不会换一种形式再发：${total} 部分中送达了 ${arrived} 部分。完整回答保存在它的页面上${at(page)}`,
  'answers-gone': ({ words, minutes, request }) =>
    `以下回答针对${minutes === null ? '' : `${ago(minutes).trim()}发送的`}${words === null ? '一条消息' : `“${beginning(words)}”`}，该消息已无法回复${request === null ? '' : `（请求 ${request}）`}：`,
  'file-left-out': ({ fileName, reason }) => `智能体想随回答附上文件 ${fileName}，但未被采用：${leftOut[reason]}`,
  'file-not-sent': ({ fileName, reason, page = null }) =>
    `文件 ${fileName} ${notSent[reason]}它保存在这个请求的页面上${at(page)}`,
}

const failure: Readonly<Record<Extract<Notice, { kind: 'turn-failed' }>['reason'], string>> = {
  exited: '智能体在回答之前退出了。',
  hung: '智能体没有响应，已被结束。',
  'no-output': '智能体结束了，但没有给出回答。',
  internal: '处理过程中我们这边出了故障。',
  garbage: '智能体的回答无法读取。',
  unavailable: '无法连接到智能体。',
  'too-large': '内容超出了智能体一次能处理的量。',
  'context-full': '对话已超出模型能读取的长度。请发送 /新对话 开始新的对话，或者缩短要问的内容。',
  'rate-limit': '模型已达到用量上限，暂时不再接受请求。请稍后再试，或提高上限。',
  'signed-out': '模型没有接受登录凭据。请在网关所在的机器上重新登录，然后重新运行。',
  'refused-by-provider':
    '模型提供方按其自身规则不回答此内容。这里没有人拒绝；原样再问仍会被拒绝，请换一种问法，或换用其他模型。',
  interrupted: '工作在得出回答之前被中断了。',
  'repeated-crash': '处理这件事时连续三次异常中止，原因可能就在这件事本身。',
}

const leftOut: Readonly<Record<Extract<Notice, { kind: 'file-left-out' }>['reason'], string>> = {
  'outside-workspace': '它不在智能体可以附带文件的目录内。',
  unreadable: '无法读取。',
  'too-large': '文件过大。',
  empty: '文件是空的。',
  'too-many': '一次回答附带的文件过多。',
}

const notSent: Readonly<Record<Extract<Notice, { kind: 'file-not-sent' }>['reason'], string>> = {
  empty: '是空的，飞书不接受空文件。',
  'too-large': '超过了飞书允许的大小。',
  refused: '未被飞书接受。',
  'bad-name': '没有发送：它的名字是一个路径，这里不显示该路径。',
}

/** The end of a sentence about a page. A full stop behind an address would be taken for a part of it. */
function at(page: string | null): string {
  return page === null ? '。' : `：${page}`
}

function ago(minutes: number): string {
  return minutes < 60 ? ` ${minutes} 分钟前` : ` ${Math.floor(minutes / 60)} 小时前`
}
