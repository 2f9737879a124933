import type { Language } from '../../collab/delivery.js'

export interface ChatWords {
  readonly title: string
  readonly about: string
  readonly modes: Readonly<Record<'p2p' | 'group' | 'topic', string>>
  readonly bot: string
  readonly speakAs: string
  readonly write: string
  readonly mention: string
  readonly attach: string
  readonly send: string
  readonly reply: string
  readonly inTopic: string
  readonly stopReplying: string
  readonly recall: string
  readonly recalled: string
  readonly edited: string
  readonly empty: string
  readonly emptyGroup: string
  readonly hints: string
  readonly hintsAbout: string
  readonly download: string
  readonly attached: string
  readonly lost: string
  readonly failed: string
  /** The app gave no good answer to a press; the number is the platform's own. */
  readonly unanswered: string
  readonly needsScript: string
  readonly unknownType: string
  readonly troubles: string
  readonly troublesAbout: string
  readonly trouble: Readonly<Record<'refused' | 'line-cut' | 'slow-down', string>>
  /** Said when one was chosen. */
  readonly troubleSet: string
}

export const chatWords: Readonly<Record<Language, ChatWords>> = {
  en: {
    title: 'Chat',
    about: 'A local stand-in for Lark, inside this process. Nothing here leaves the machine.',
    modes: { p2p: 'Direct message', group: 'Group', topic: 'Topic group' },
    bot: 'Manager',
    speakAs: 'Speak as',
    write: 'Write a message',
    mention: '@Manager',
    attach: 'Attach a file',
    send: 'Send',
    reply: 'Reply',
    inTopic: 'Replying in the topic of',
    stopReplying: 'Not in a topic',
    recall: 'Recall',
    recalled: 'This message was recalled',
    edited: 'edited',
    empty: 'Say something. You will see the reaction at once, then the answer.',
    emptyGroup: 'In a group the bot answers when it is mentioned, or in its own topic.',
    hints: 'Things to try',
    hintsAbout: 'No model is connected: the answers follow these lines. Click one to put it into the message.',
    download: 'Download',
    attached: 'Will be sent:',
    lost: 'The connection was lost. It comes back by itself.',
    failed: 'That could not be sent.',
    unanswered: 'The app did not answer the press, error',
    needsScript: 'The chat needs JavaScript.',
    unknownType: 'A message of another kind:',
    troubles: 'Let something go wrong',
    troublesAbout: 'It happens once, to the next message of the bot.',
    trouble: {
      refused: 'The platform refuses the words',
      'line-cut': 'The line is cut after it was sent',
      'slow-down': 'The platform asks to wait',
    },
    troubleSet: 'Will happen to the next message of the bot:',
  },
  zh: {
    title: '聊天',
    about: '本进程内的本地飞书替身，内容不会离开这台机器。',
    modes: { p2p: '私信', group: '群聊', topic: '话题群' },
    bot: '管理智能体',
    speakAs: '发言身份',
    write: '写消息',
    mention: '@管理智能体',
    attach: '添加文件',
    send: '发送',
    reply: '回复',
    inTopic: '在话题中回复：',
    stopReplying: '不在话题中回复',
    recall: '撤回',
    recalled: '此消息已撤回',
    edited: '已编辑',
    empty: '随便说点什么。先看到表情回应，然后收到答复。',
    emptyGroup: '在群里，提及机器人或在它的话题中发言时，它才会答复。',
    hints: '可以试试',
    hintsAbout: '尚未连接模型：答复按下列指令生成。点一下即可填入消息。',
    download: '下载',
    attached: '将一并发送：',
    lost: '连接已断开，会自动恢复。',
    failed: '未能发送。',
    unanswered: '应用没有正确回应这次点击，错误码',
    needsScript: '聊天页面需要 JavaScript。',
    unknownType: '其他类型的消息：',
    troubles: '让它出点问题',
    troublesAbout: '只发生一次，影响机器人的下一条消息。',
    trouble: {
      refused: '平台拒收这段内容',
      'line-cut': '消息发出后连接中断',
      'slow-down': '平台要求稍后再发',
    },
    troubleSet: '机器人的下一条消息将会遇到：',
  },
}
