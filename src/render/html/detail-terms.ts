import type { FenceRelease } from '../../collab/attempt.js'
import type { Language } from '../../collab/delivery.js'
import type { ApprovalEnd, HandedOver, HeldFor, Observation, Steered } from '../../collab/observation.js'
import type { TurnFailure } from '../../collab/ports.js'

type Words = Readonly<Record<Language, string>>
type Of<K extends Observation['kind']> = Extract<Observation, { kind: K }>

const words = (en: string, zh: string): Words => ({ en, zh })

const failures: Readonly<Record<TurnFailure, Words>> = {
  exited: words('the agent ended by itself', '智能体自行退出'),
  hung: words('the agent did nothing any more', '智能体没有进展'),
  'no-output': words('the agent ended without an answer', '智能体结束但没有答复'),
  garbage: words('what the agent said could not be read', '智能体的输出无法读取'),
  unavailable: words('the agent could not be had', '智能体不可用'),
  'too-large': words('what the agent said was too large', '智能体的输出过大'),
  'context-full': words('the conversation holds more than the model can read', '会话内容超出模型的读取上限'),
  'rate-limit': words('the model provider takes no more for now', '模型服务暂时不再接受请求'),
  'signed-out': words('the model provider does not accept the sign-in', '模型服务不接受当前登录'),
  'refused-by-provider': words('the model provider refused it by a rule of its own', '模型服务按其自身规则拒绝'),
  internal: words('a fault of this gateway', '本网关的故障'),
}

const interruptions: Readonly<Record<Extract<Of<'turn-ended'>['ending'], { ended: 'interrupted' }>['because'], Words>> =
  {
    shutdown: words('interrupted: the gateway stopped', '已中断：网关停止'),
    stop: words('interrupted: it was stopped', '已中断：被要求停止'),
    'holder-gone': words('interrupted: the process that ran it is gone', '已中断：运行它的进程已不在'),
  }

const releases: Readonly<Record<FenceRelease, Words>> = {
  'terminal-result': words('answered', '已答复'),
  'cancel-acknowledged': words('cancelled', '已取消'),
  quiescent: words('nothing of it runs any more', '已没有任何部分在运行'),
  'executor-gone': words('its process is gone', '其进程已不在'),
  'request-closed': words('the request is closed', '请求已关闭'),
}

const handedOver: Readonly<Record<HandedOver, Words>> = {
  ...failures,
  interrupted: words('it was interrupted', '被中断'),
  'repeated-crash': words('it crashed several times in a row', '连续多次崩溃'),
}

const approvals: Readonly<Record<ApprovalEnd, Words>> = {
  allowed: words('allowed', '已允许'),
  refused: words('refused', '已拒绝'),
  lapsed: words('nobody answered in time', '未及时得到答复'),
}

const cancellations: Readonly<Record<Of<'cancel-requested'>['because'], Words>> = {
  owner: words('by its owner', '由所有者提出'),
  'trigger-recalled': words('its message was recalled', '原消息已被撤回'),
  requester: words('by the agent that asked', '由提出请求的智能体'),
  'authority-gone': words('who asked may not start work there any more', '提出请求的人已失去权限'),
}

const heldFor: Readonly<Record<HeldFor, Words>> = {
  late: words('it came late', '到达过晚'),
  stopped: words('it was stopped', '被要求停止'),
  backlog: words('too many waited behind a turn, or it waited too long', '排队过多或等待过久'),
}

/** What the runtime said of words that were put into a running turn. */
const steered: Readonly<Record<Steered, Words>> = {
  taken: words('its agent has it', '智能体已收到'),
  'too-late': words('that turn had ended before; it gets its own turn', '那一轮已经结束，随后单独处理'),
  unsupported: words('that turn cannot be told; it gets its own turn', '那一轮无法接收，随后单独处理'),
  unknown: words('whether it arrived is not known; it gets its own turn', '是否收到不明，随后单独处理'),
}

const others = {
  completed: words('with an answer', '有答复'),
  'skipped-by-owner': words('the owner chose to skip it', '所有者选择跳过'),
  shown: words('it may be shown', '可以显示'),
  dropped: words('it is not shown', '不予显示'),
  result: words('the whole answer', '完整答复'),
  interim: words('a first part', '部分答复'),
} satisfies Readonly<Record<string, Words>>

const plain: Readonly<Record<string, Words>> = {
  ...others,
  ...releases,
  ...handedOver,
  ...approvals,
  ...cancellations,
  ...heldFor,
}

/** The detail of a fact in words; a name (an agent, a message) stands as it is. */
export function detailText(kind: string, detail: string, language: Language): string {
  const said = (terms: Readonly<Record<string, Words>>, code: string) => wordsFor(terms, code, language)
  if (kind === 'turn-ended') {
    const because = detail.replace(/^(failed|interrupted): /, '')
    const known: Readonly<Record<string, Words>> = detail.startsWith('interrupted') ? interruptions : failures
    return said(known, because) ?? said(others, detail) ?? detail
  }
  if (kind === 'steer-settled') return said(steered, detail) ?? detail
  if (kind === 'refused-by-host' || kind === 'attempt-assigned' || kind === 'brief-saved') return detail
  return said(plain, detail) ?? detail
}

const parts: Readonly<Record<string, Words>> = {
  'in-order': words('waits for earlier messages of this chat', '等待本会话中更早的消息'),
  'rate-limit': words('the platform asked to wait', '平台要求稍候'),
  'held-elsewhere': words('another process is sending it', '另一进程正在发送'),
  'not-called': words('not sent yet: the run was held up', '尚未发送：执行被推迟'),
  'server-error': words('the platform had a fault', '平台出现故障'),
  'channel-down': words('the platform cannot be reached', '无法连接平台'),
  'not-permitted': words('the platform does not permit it', '平台不允许'),
  'target-gone': words('the message it replies to is gone', '被回复的消息已不存在'),
  'message-gone': words('the message is gone', '消息已不存在'),
  deleted: words('the message was deleted', '消息已被删除'),
  'read-back-unavailable': words('it could not be read back for now', '暂时无法回读'),
  'read-back-not-permitted': words('the platform permits no reading back', '平台不允许回读'),
  'look-up-unavailable': words('it could not be looked up for now', '暂时无法查找'),
  'look-up-too-early': words('it is too early to look it up', '尚早，稍后再查找'),
  'no-content-to-match': words('it has no text to recognise it by', '没有可用于识别的文字'),
  mismatch: words('what arrived is not what was sent', '收到的内容与发送的不一致'),
  quota: words('the quota of the platform is used up', '平台配额已用完'),
  'too-large': words('too large for the platform', '超出平台大小限制'),
}

/** Why a part stands where it stands; a code that only the platform knows stands as it is. */
export function partText(because: string, language: Language): string {
  return wordsFor(parts, because, language) ?? because
}

const wordsFor = (terms: Readonly<Record<string, Words>>, code: string, language: Language): string | undefined =>
  Object.hasOwn(terms, code) ? terms[code]?.[language] : undefined
