import type { Language } from '../../collab/delivery.js'

export interface RequestWords {
  readonly back: string
  readonly asked: string
  readonly next: string
  readonly waitsFor: string
  readonly now: string
  readonly saved: string
  readonly leftOut: string
  readonly answer: string
  readonly interim: string
  readonly conclusion: string
  readonly whole: string
  readonly files: string
  readonly deliveries: string
  readonly noDeliveries: string
  readonly part: string
  readonly kind: string
  readonly state: string
  readonly tries: string
  readonly timeline: string
  readonly by: string
  readonly change: string
  readonly correct: string
  readonly correction: string
  readonly sendCorrection: string
  readonly cancel: string
  readonly retry: string
  readonly lookAgain: string
  readonly present: string
  readonly seenMessage: string
  readonly absentSend: string
  readonly giveUp: string
  readonly decide: string
  readonly done: string
  readonly details: string
  readonly revision: string
  readonly parent: string
  readonly sameConversation: string
  readonly cancellation: string
  readonly tooLate: string
  readonly tooLateAnswered: string
  readonly replaces: string
  readonly updates: string
  readonly replaced: string
  readonly work: string
  readonly notDone: string
  readonly turns: string
  readonly accepted: string
  readonly started: string
  readonly firstAnswer: string
  readonly completed: string
  readonly endedWith: string
  readonly erased: string
}

export const requestWords: Readonly<Record<Language, RequestWords>> = {
  en: {
    back: 'All requests',
    asked: 'What was asked',
    next: 'What happens next',
    waitsFor: 'Next:',
    now: 'Right now:',
    saved: 'Saved for whoever goes on',
    leftOut: 'Said by an earlier one and left out of this one',
    answer: 'Answer',
    interim: 'Interim answer',
    conclusion: 'In short',
    whole: 'The whole answer',
    files: 'Files',
    deliveries: 'Deliveries',
    noDeliveries: 'Nothing has been sent for this request yet.',
    part: 'Part',
    kind: 'Kind',
    state: 'State',
    tries: 'Tries',
    timeline: 'What happened',
    by: 'by',
    change: 'Change this request',
    correct: 'Correct it',
    correction: 'What should be different?',
    sendCorrection: 'Send correction',
    cancel: 'Cancel the request',
    retry: 'Try again',
    lookAgain: 'Look it up again',
    present: 'It arrived',
    seenMessage: 'id of the message, if known',
    absentSend: 'It is not there, send it',
    giveUp: 'Let it be',
    decide: 'Look in the chat: did this part arrive? Nothing is sent twice unless you say that it is missing.',
    done: 'Done. What follows appears here.',
    details: 'Details',
    revision: 'Revision',
    parent: 'Part of',
    sameConversation: 'Other requests of this conversation',
    cancellation: 'Cancellation:',
    tooLate: 'Cancelled too late for what had happened',
    tooLateAnswered: 'Too late to cancel: this is over already. What happened stands below.',
    replaces: 'It replaces an earlier answer.',
    updates: 'It brings an earlier answer up to date.',
    replaced: 'A later answer has replaced it.',
    work: 'What it changed in the work of its goal',
    notDone: 'What was not done, and whose refusal it was',
    turns: 'Turns',
    accepted: 'Taken up',
    started: 'Turn started',
    firstAnswer: 'First answer',
    completed: 'Completed',
    endedWith: 'Ended with it:',
    erased: '(text erased)',
  },
  zh: {
    back: '全部请求',
    asked: '请求内容',
    next: '接下来',
    waitsFor: '下一步：',
    now: '此刻：',
    saved: '为接续工作保存的说明',
    leftOut: '较早的说明里有，而这一份里没有',
    answer: '答复',
    interim: '阶段答复',
    conclusion: '结论',
    whole: '完整答复',
    files: '文件',
    deliveries: '发送情况',
    noDeliveries: '这个请求还没有发送过内容。',
    part: '部分',
    kind: '类型',
    state: '状态',
    tries: '次数',
    timeline: '经过',
    by: '由',
    change: '变更这个请求',
    correct: '更正',
    correction: '需要改成什么？',
    sendCorrection: '提交更正',
    cancel: '取消请求',
    retry: '重试',
    lookAgain: '再查一次',
    present: '已经收到',
    seenMessage: '消息 ID（如果知道）',
    absentSend: '没有收到，请发送',
    giveUp: '不再处理',
    decide: '请到聊天中查看：这一部分是否已送达？除非您说明没有收到，否则不会重复发送。',
    done: '已提交，后续进展会显示在这里。',
    details: '详细信息',
    revision: '版本',
    parent: '隶属于',
    sameConversation: '同一会话的其他请求',
    cancellation: '取消：',
    tooLate: '取消得太晚，已有内容发生',
    tooLateAnswered: '取消得太晚：这个请求已经结束，经过见下。',
    replaces: '取代之前的一个答复。',
    updates: '更新之前的一个答复。',
    replaced: '已被之后的答复取代。',
    work: '对所属目标的工作所做的变更',
    notDone: '没有执行的操作，以及由谁拒绝',
    turns: '各轮处理',
    accepted: '受理',
    started: '本轮开始',
    firstAnswer: '开始作答',
    completed: '结束',
    endedWith: '随之结束的命令：',
    erased: '（文字已清除）',
  },
}
