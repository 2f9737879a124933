import type { Language } from '../collab/delivery.js'
import type { AnyReason } from './answer.js'

/** What each refusal means for the one who called, and what to do next. */
export const refusalWords: Readonly<Record<AnyReason, Readonly<Record<Language, string>>>> = {
  'bad-arguments': {
    en: 'The arguments do not fit this tool; nothing was done. Mend what `where` names and call again.',
    zh: '参数与此工具不符，未执行任何操作。请按 where 的提示改正后再调用。',
  },
  'unknown-tool': { en: 'There is no tool of this name; list the tools.', zh: '没有这个名称的工具，请列出工具。' },
  'not-visible': {
    en: 'There is nothing of this name that you may see.',
    zh: '没有您可以查看的同名对象。',
  },
  'work-refused': {
    en: 'The work owner refused this change; nothing was done.',
    zh: '工作归属方拒绝了这项更改，未执行任何操作。',
  },
  'work-unavailable': {
    en: 'The work owner cannot be reached; nothing was done. Say so in your answer instead of guessing.',
    zh: '无法联系工作归属方，未执行任何操作。请在答复中如实说明，不要猜测。',
  },
  'work-ambiguous': {
    en: 'It may have been done. Read the state before trying again, and use the same key.',
    zh: '操作可能已经完成。请先查看状态，再用同一个键重试。',
  },
  unavailable: {
    en: 'The gateway could not finish this now. Call again with the same key.',
    zh: '网关暂时无法完成此操作。请用同一个键再次调用。',
  },
  'artifact-too-large': {
    en: 'This file is larger than one call takes (`limit` bytes). Use the command line, `lark-manager artifact put` or `artifact get --out`, or the HTTP call with plain bytes.',
    zh: '文件超出单次调用的大小（limit 字节）。请使用命令行 `lark-manager artifact put` 或 `artifact get --out`，或以原始字节进行 HTTP 调用。',
  },
  'file-too-large': {
    en: 'A file has at most `limit` bytes. Give it in parts, or say where it can be read.',
    zh: '单个文件最多 limit 字节。请分成几部分，或说明可在何处读取。',
  },
  'artifact-unreadable': {
    en: 'The file is on record, but its bytes cannot be read. Say that you have not seen it instead of guessing.',
    zh: '文件有记录，但内容无法读取。请如实说明未能查看，不要猜测。',
  },
  'request-unknown': { en: 'There is no such request that you may see.', zh: '没有您可以查看的这个请求。' },
  'request-exists': { en: 'This request is open already.', zh: '这个请求已经存在。' },
  'request-closed': { en: 'This request is closed; nothing more is owed on it.', zh: '这个请求已关闭，不再有待办。' },
  'request-unreadable': {
    en: 'This request holds a fact that this version cannot read; the operator has to look.',
    zh: '这个请求含有当前版本无法读取的记录，需由管理员查看。',
  },
  'stale-revision': {
    en: 'The request has moved on to the revision in `head`. Read it again and decide on that one.',
    zh: '请求已更新到 head 所示的版本。请重新读取后再决定。',
  },
  'fence-held': {
    en: 'Another attempt may still be acting. Wait until it has ended; do not work around it.',
    zh: '另一次执行可能仍在进行。请等待其结束，不要绕过。',
  },
  'attempt-unknown': { en: 'There is no such attempt.', zh: '没有这次执行。' },
  'attempt-released': { en: 'This attempt has ended.', zh: '这次执行已经结束。' },
  'turn-running': { en: 'A turn is running; call again when it has ended.', zh: '正在处理中，请在结束后再调用。' },
  'turn-not-running': { en: 'No such turn is running.', zh: '没有正在进行的处理。' },
  'request-held': {
    en: 'The request is held until its owner decides; leave it.',
    zh: '请求已搁置，等待所有者决定，请勿处理。',
  },
  'not-held': { en: 'The request is not held.', zh: '请求没有被搁置。' },
  'cancel-pending': {
    en: 'A cancellation is under way: stop at the next safe point.',
    zh: '取消正在进行，请在下一个安全点停止。',
  },
  'nothing-to-cancel': { en: 'There is nothing left to cancel.', zh: '没有可取消的内容。' },
  'text-empty': { en: 'This needs words.', zh: '需要写明内容。' },
  'nothing-owed': { en: 'Nothing is owed here.', zh: '这里没有待完成的事。' },
  'request-expired': {
    en: 'This request has expired; begin nothing new on it.',
    zh: '这个请求已过期，请勿开始新的处理。',
  },
  'ask-unknown': {
    en: 'This request has no such ask; take the ids from inbox_read.',
    zh: '这个请求没有此问题，请使用 inbox_read 给出的编号。',
  },
  'ask-not-owed': { en: 'This ask is not owed any more.', zh: '这个问题已不再待答复。' },
  'not-presented': {
    en: 'This revision was not shown to you yet; read it with inbox_read first.',
    zh: '您尚未读取这个版本，请先用 inbox_read 读取。',
  },
  'not-assessed': {
    en: 'You have not assessed this ask as accepted; call assess_request first.',
    zh: '您尚未评估这个问题，请先调用 assess_request。',
  },
  'not-receiver': { en: 'Only the receiver of this request may say this.', zh: '只有此请求的接收方可以这样做。' },
  'effect-unknown': {
    en: 'There is no such effect; declare it before you cause it.',
    zh: '没有这项外部操作，请先声明再执行。',
  },
  'effect-known': { en: 'This effect was declared before.', zh: '这项外部操作此前已声明。' },
  'effect-settled': { en: 'What became of this effect is known already.', zh: '这项外部操作已有结果。' },
  'effect-open': {
    en: 'An effect has an unknown outcome. Find out what happened and call settle_effect before anything else.',
    zh: '有一项外部操作结果不明。请先查清并调用 settle_effect。',
  },
  'basis-unresolved': {
    en: 'A correction came that you have not assessed. Read it, assess it, then go on; do not cause the effect.',
    zh: '有一项更正您尚未评估。请先读取并评估，再继续；请勿执行该操作。',
  },
  'child-unknown': { en: 'There is no such request of yours to an agent.', zh: '您没有向智能体发出过这个请求。' },
  'child-known': { en: 'This request to an agent exists already.', zh: '这个发给智能体的请求已经存在。' },
  'child-already-returned': { en: 'Its answer has come back already.', zh: '它的答复已经返回。' },
  'asks-own-requester': {
    en: 'This agent asked you: answer it with report_result instead of asking it the same.',
    zh: '正是这个智能体向您提出的请求：请用 report_result 答复，不要反问同一问题。',
  },
  'wait-cycle': {
    en: 'That agent waits for this request itself; asking it would make both wait for ever.',
    zh: '对方正在等待这个请求；再向其提问会使双方一直等待。',
  },
  'not-related': {
    en: 'These two messages cannot be related; `because` says why.',
    zh: '这两条消息无法关联，原因见 because。',
  },
  'agent-unknown': {
    en: 'There is no such agent; call discover_agents.',
    zh: '没有这个智能体，请调用 discover_agents。',
  },
  'not-admitted': {
    en: 'This agent cannot be given this; `because` says why.',
    zh: '不能交给这个智能体，原因见 because。',
  },
  'stale-epoch': {
    en: 'This session was replaced or ended; stop here.',
    zh: '此会话已被取代或结束，请停止。',
  },
  'too-large': {
    en: 'That is more than `limit` takes; nothing was cut and nothing was done. Attach it: store it with artifact_put, name its id, and say in short what it is.',
    zh: '内容超出 limit，未作截断，也未执行任何操作。请作为附件：用 artifact_put 存入，写明其编号，并简述其内容。',
  },
  'bad-reference': { en: 'The reference in `field` leads nowhere.', zh: 'field 中的引用无效。' },
  'result-unknown': { en: 'There is no such result.', zh: '没有这个结果。' },
}
