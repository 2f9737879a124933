import type { CauseKind, DeliveryOutcome, Language, PartState } from '../../collab/delivery.js'
import type { AskState } from '../../collab/exchange-state.js'
import type { Refuser } from '../../collab/host-refusal.js'
import type { Observation } from '../../collab/observation.js'
import type { Axes } from '../../collab/project/axes.js'
import type { NextStep } from '../../collab/project/obligations.js'
import type { MessageType } from '../../collab/channel.js'
import type { BriefPart } from '../../collab/saved-brief.js'
import type { ActorRef } from '../../collab/refs.js'

/** One thing said in both languages, with how it looks. */
export interface Term {
  readonly en: string
  readonly zh: string
  readonly tone: 'good' | 'warn' | 'bad' | 'calm'
}

type Terms<K extends string> = Readonly<Record<K, Term>>

const calm = (en: string, zh: string): Term => ({ en, zh, tone: 'calm' })
const good = (en: string, zh: string): Term => ({ en, zh, tone: 'good' })
const warn = (en: string, zh: string): Term => ({ en, zh, tone: 'warn' })
const bad = (en: string, zh: string): Term => ({ en, zh, tone: 'bad' })

export const stateTerms: Terms<'open' | 'closed' | 'failed'> = {
  open: warn('Open', '进行中'),
  closed: good('Closed', '已完成'),
  failed: bad('Failed', '未成功'),
}

/** The parts of what an agent saved of its work. */
export const briefTerms: Terms<BriefPart> = {
  constraints: calm('What binds the work', '必须遵守的约束'),
  decisions: calm('Decided', '已作出的决定'),
  tried: calm('Tried and given up', '试过并放弃的做法'),
  inFlight: calm('Under way then', '当时正在进行'),
  unverified: calm('Not verified', '尚未核实'),
  next: calm('Suggested next', '建议的下一步'),
}

/** Whose refusal it was. */
export const refuserTerms: Terms<Refuser> = {
  sandbox: warn('Sandbox of the host', '主机沙箱'),
  policy: warn('Rule of the host', '主机规则'),
  application: warn('No permission here', '本网关未授权'),
  person: calm('A person', '有人拒绝'),
  provider: bad('Model provider', '模型提供方'),
}

/** What a runtime is seen to do; whatever else it says is `other`. */
export const activityTerms: Readonly<Record<string, Term>> & { readonly other: Term } = {
  thinking: calm('The agent is thinking', '智能体正在思考'),
  answering: calm('The agent is writing', '智能体正在写'),
  tool: calm('The agent is using a tool', '智能体正在使用工具'),
  waiting: warn('The agent waits for an answer', '智能体正在等待答复'),
  other: calm('The agent is working', '智能体正在工作'),
}

export const axisNames: Readonly<Record<keyof Axes, { readonly en: string; readonly zh: string }>> = {
  assignment: { en: 'Who has it', zh: '由谁处理' },
  judgment: { en: 'Is it answered', zh: '是否答复' },
  control: { en: 'Was it changed', zh: '是否变更' },
  delivery: { en: 'Did the answer arrive', zh: '答复是否送达' },
}

export const axisTerms: { readonly [A in keyof Axes]: Terms<Axes[A]> } = {
  assignment: {
    unassigned: calm('Nobody yet', '尚未分配'),
    assigned: warn('Given to an agent, not yet shown', '已分配，尚未交到手上'),
    presented: good('Shown to the agent', '已交给智能体'),
  },
  judgment: {
    pending: warn('Not yet', '尚未答复'),
    resolved: good('Answered', '已答复'),
    rejected: calm('Ended without an answer', '未作答复即结束'),
    accepted: good('Taken on', '已接受'),
    'partially-accepted': warn('Taken on in part', '部分接受'),
    deferred: warn('Put off, with a condition', '已推迟，待条件满足'),
    'no-change': calm('Looked at, nothing to change', '已评估，无需改动'),
  },
  control: {
    open: calm('No change', '没有变更'),
    'correction-pending': warn('Corrected, not yet shown', '已更正，尚未交到手上'),
    'cancel-requested': warn('Cancellation under way', '正在取消'),
    'cancel-acknowledged': calm('Cancelled', '已取消'),
  },
  delivery: {
    none: calm('Nothing to deliver yet', '还没有可送达的内容'),
    'result-committed': warn('Answer saved', '答复已保存'),
    'send-pending': warn('Waiting to be sent', '等待发送'),
    sending: warn('Being sent', '正在发送'),
    accepted: good('Accepted by Lark, not read back', '飞书已接收，未回读'),
    verified: good('Arrived, read back', '已送达并回读确认'),
    ambiguous: bad('Unknown, needs a look', '结果不明，需要查看'),
    failed: bad('Could not be delivered', '未能送达'),
  },
}

export const askTerms: Terms<AskState['is']> = {
  owed: warn('Owed', '待答复'),
  covered: good('Answered', '已答复'),
  rejected: calm('Not answered', '不再答复'),
  deferred: warn('Deferred', '已推迟'),
  continued: calm('Goes on in an earlier request', '并入较早的请求'),
}

export const nextTerms: Terms<NextStep['condition']> = {
  'word-of-owner': warn('It is held. The owner says whether it shall run.', '已搁置，等待所有者决定是否处理。'),
  'turn-running': calm('The agent is working on it.', '智能体正在处理。'),
  'turn-queued': calm('It waits for its turn.', '正在排队等待处理。'),
  'told-to-turn': calm(
    'It was told to the turn that ran before it. What that turn does not take up gets its own.',
    '已告知正在进行的一轮；若那一轮没有并入，随后单独处理。',
  ),
  'cancellation-at-turn-end': calm('It ends as soon as the running turn has stopped.', '当前处理停止后即结束。'),
  'delivery-under-way': calm('The answer is on its way.', '答复正在送出。'),
  'delivery-parked': bad(
    'A part has an unknown outcome. Look in the chat, then decide below.',
    '有一部分结果不明。请到聊天中查看，再在下方决定。',
  ),
  'delivery-failed': bad(
    'The answer is saved but could not be delivered. It can be tried again below.',
    '答复已保存但未能送达，可在下方重试。',
  ),
  'replay-after-failure': bad(
    'The agent failed several times. Its job can be retried under Queues.',
    '智能体多次未能完成，可在“队列”中重试。',
  ),
  'unreadable-fact': bad('A newer version wrote here. Update this gateway.', '此处有新版本写入的记录，请升级本网关。'),
}

/** The same in a list, where there is no "below". */
export const nextShort: Terms<NextStep['condition']> = {
  ...nextTerms,
  'word-of-owner': warn('Held until the owner says whether it shall run', '已搁置，等待所有者决定'),
  'delivery-parked': bad('A part needs your decision', '有一部分等待您决定'),
  'delivery-failed': bad('The answer could not be delivered', '答复未能送达'),
  'replay-after-failure': bad('The agent failed several times; its job can be retried', '智能体多次未能完成，可以重试'),
}

/** Kinds of messages, in the words of a reader. */
export const messageTerms: Terms<MessageType> = {
  text: calm('Text', '文字'),
  post: calm('Rich text', '富文本'),
  interactive: calm('Card', '卡片'),
  image: calm('Picture', '图片'),
  file: calm('File', '文件'),
  audio: calm('Audio', '音频'),
  media: calm('Video', '视频'),
}

export const ownerTerms: Terms<NextStep['owner']> = {
  owner: calm('the owner', '所有者'),
  manager: calm('the manager', '管理智能体'),
  gateway: calm('the gateway', '网关'),
  operator: calm('you, the operator', '您（运维者）'),
}

export const factTerms: Terms<Observation['kind']> = {
  'request-opened': calm('Request opened', '请求已建立'),
  'request-revised': warn('Revised', '已修订'),
  'request-held': warn('Held', '已搁置'),
  'request-released': calm('Released to run', '恢复处理'),
  'request-rejected': calm('Skipped by the owner', '所有者选择跳过'),
  'attempt-assigned': calm('Given to an agent', '已分配给智能体'),
  'turn-presented': good('Shown to the agent', '已交给智能体'),
  'steer-intended': calm('Being told to the running turn', '正在告知进行中的一轮'),
  'steer-settled': calm('Told to the running turn', '已告知进行中的一轮'),
  'turn-steered': good('The running turn took up a later message', '进行中的一轮已并入后来的消息'),
  'turn-ended': calm('Turn ended', '本轮处理结束'),
  'approval-asked': warn('Asked for a permission and waits', '请求许可，正在等待'),
  'approval-settled': calm('The permission was decided', '许可请求已有结果'),
  'approval-refused': warn('An act without a grant was refused', '拒绝了一项未获授权的操作'),
  'refused-by-host': warn('The agent’s host refused an operation', '智能体所在的主机拒绝了一项操作'),
  'ended-with-turn': calm('A command that was left running was ended', '结束了一个遗留的命令'),
  'result-committed': good('Answer saved', '答复已保存'),
  'result-withheld': warn('Kept back: its question was withdrawn', '已保留：原消息已撤回'),
  'withheld-settled': calm('The owner decided about the answer kept back', '所有者已决定如何处理保留的答复'),
  'failure-handed-over': bad('Tries used up, handed to the owner', '多次未成功，已告知所有者'),
  'cancel-requested': warn('Cancellation asked for', '已要求取消'),
  'cancel-acknowledged': calm('Cancelled', '已取消'),
  'request-expired': warn('Expired: nothing new starts', '已过期：不再开始新的处理'),
  'request-continued': calm('Goes on in an earlier request', '并入较早的请求继续'),
  'asks-split': calm('Its questions were named one by one', '已逐一列出其中的问题'),
  'inbox-stored': calm('Put into the receiver’s inbox', '已放入接收方的收件箱'),
  'context-provided': calm('Fetched by the agent, not a turn', '智能体已取用内容（未开始处理）'),
  assessed: good('Assessed', '已评估'),
  'deferral-due': warn('Due again', '再次到期'),
  'brief-saved': calm('The agent saved what whoever goes on must know', '智能体保存了接续工作所需的说明'),
  'work-linked': calm('Linked with its work', '已关联工作项'),
  'effect-intended': warn('An outside act was announced', '声明了一项外部操作'),
  'effect-settled': calm('What became of the outside act', '外部操作的结果'),
  'receiver-selected': calm('A receiver was chosen', '已选定接收方'),
  'child-opened': calm('Handed on', '已转交'),
  'child-revised': warn('The correction was passed on', '已转达更正'),
  'child-returned': good('Came back', '已返回'),
  'receiver-waits': warn('The receiver has not begun', '接收方尚未开始'),
  'trigger-recalled': warn('The message was recalled', '原消息已撤回'),
  'sent-outside': warn('A message of our app that the gateway did not send', '本应用发出了一条不经网关的消息'),
  'fence-released': calm('The attempt can no longer act', '该次执行已不能再行动'),
  'unreadable-fact': bad('A fact that this version cannot read', '当前版本无法读取的记录'),
}

export const deliveryTerms: Terms<'planned' | 'sending' | DeliveryOutcome> = {
  planned: warn('Waiting', '等待'),
  sending: warn('Sending', '发送中'),
  verified: good('Arrived, read back', '已送达并确认'),
  accepted: good('Accepted, not read back', '已接收，未回读'),
  failed: bad('Failed', '失败'),
  parked: bad('Needs a decision', '等待决定'),
}

export const partTerms: Terms<PartState> = {
  planned: calm('Waiting', '等待'),
  sending: warn('Sending', '发送中'),
  accepted: good('Accepted', '已接收'),
  verified: good('Read back', '已确认'),
  ambiguous: warn('Unknown', '结果不明'),
  parked: bad('Needs a decision', '等待决定'),
  failed: bad('Failed', '失败'),
  superseded: calm('Replaced', '已替换'),
}

export const causeTerms: Terms<CauseKind> = {
  result: calm('Answer', '答复'),
  interim: calm('Interim answer', '阶段答复'),
  notice: calm('Notice', '通知'),
  control: calm('Control answer', '指令回复'),
  progress: calm('Progress', '进度'),
  approval: calm('Approval', '审批'),
}

export function actorText(actor: ActorRef, language: Language): string {
  switch (actor.kind) {
    case 'person':
      return language === 'zh' ? '用户' : 'a person'
    case 'agent':
      return actor.agent
    case 'host':
      return language === 'zh' ? '网关' : 'the gateway'
    case 'operator':
      return language === 'zh' ? '运维者' : 'the operator'
  }
}
