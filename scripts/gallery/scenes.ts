/** One picture of the gallery: what is said, and what is waited for. */
export interface Scene {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly language: 'en' | 'zh-CN'
  readonly room: 'Direct message' | 'Gateway test group' | 'Topic group'
  readonly say: string
  /** Who says it, if not Alice. */
  readonly by?: 'Bob'
  /** So often, with a number behind it. */
  readonly times?: number
  /** Where its card is seen, if not in the same room. */
  readonly look?: 'Direct message'
  /** Something of the platform's that the next message of the bot meets; see the sandbox page. */
  readonly trouble?: 'refused'
  /** Seen on the page when the scene is complete. */
  readonly until: string
  /** Its work goes on: the receipt stays. */
  readonly waits?: true
  /** The desktop picture is dark and the phone's is light; otherwise the other way round. */
  readonly dark: boolean
  /** Where a picture begins, if not with the question: with the last message, or so that it ends with that. */
  readonly from?: Partial<Readonly<Record<'desktop' | 'phone', 'last' | 'end'>>>
}

const dm = { room: 'Direct message', language: 'en' } as const

export const scenes: readonly Scene[] = [
  {
    ...dm,
    name: 'short',
    title: 'A short answer',
    about: 'One plain paragraph is a text. The receipt is gone when the answer is proved to be in the chat.',
    say: 'When does the certificate of the gateway expire?',
    until: 'in 102 days',
    dark: false,
  },
  {
    ...dm,
    name: 'parts',
    title: 'A long answer in parts',
    about:
      'Numbered only because there is more than one. No block of code and no list is cut where it can be helped. The phone shows how the last part begins.',
    say: 'Write down how a release goes, step by step and host by host.',
    until: 'Whoever leaves a step out',
    dark: false,
    from: { phone: 'last' },
  },
  {
    ...dm,
    name: 'tables',
    title: 'Tables',
    about:
      'Three to a message; the fourth comes in a message of its own, with its heading (on the phone). A wide one is moved sideways.',
    say: 'Show me services, hosts, on-call and costs.',
    until: '402.75',
    dark: true,
    from: { phone: 'last' },
  },
  {
    ...dm,
    name: 'code',
    title: 'Code with its language',
    about: 'Blocks keep their language; a long line is moved sideways, not broken.',
    say: 'Why does the head sometimes go back? Show the fix.',
    until: 'lock_timeout',
    dark: true,
  },
  {
    ...dm,
    name: 'lists',
    title: 'Lists, tasks, a quote and a footnote',
    about: 'Nested as they were written; what is done and what is not is seen at a glance.',
    say: 'What is the plan for Friday?',
    until: 'Section 4',
    dark: false,
  },
  {
    name: 'scripts',
    title: 'Chinese, Arabic and emoji',
    about: 'Each script in its own direction; no emoji is ever cut in two.',
    room: 'Direct message',
    language: 'zh-CN',
    say: '三个语言版本都检查过了吗？',
    until: '韩文字体',
    dark: true,
  },
  {
    name: 'report',
    title: 'A report',
    about:
      'More than eight messages would be a wall: the beginning is said, the whole is attached to be read on any device.',
    room: 'Direct message',
    language: 'zh-CN',
    say: '请给出十一月的完整运行报告。',
    until: '.html',
    dark: false,
    from: { phone: 'end' },
  },
  {
    ...dm,
    name: 'chart',
    title: 'A chart',
    about: 'Given as data, sent as a picture; the numbers stay as a table.',
    say: 'How many requests did we have this week?',
    until: 'Most of it comes from one client',
    dark: true,
    from: { desktop: 'end', phone: 'end' },
  },
  {
    ...dm,
    name: 'topic',
    title: 'A question in a topic, with a file',
    about: 'The answer and its file stay in the topic in which it was asked.',
    room: 'Topic group',
    say: 'Who is on call next week?',
    until: 'on-call Q1',
    dark: false,
  },
  {
    ...dm,
    name: 'progress',
    title: 'Work that takes long',
    about: 'One card, changed only when a fact changes. It can be stopped from here.',
    say: 'Read the whole repository and list what nobody owns.',
    until: 'Still working',
    waits: true,
    dark: false,
  },
  {
    ...dm,
    name: 'choice',
    title: 'A choice',
    about: 'After a stop nothing starts by itself: the card asks, and the words in it do the same as its buttons.',
    say: '/stop',
    until: 'has ended without an answer',
    dark: true,
  },
  {
    ...dm,
    name: 'failure',
    title: 'A failure, with its mend',
    about: 'What happened, where the message is kept and which word tries it once more.',
    say: 'Compare the two drafts and say which one to send.',
    until: 'ended before it answered',
    dark: false,
  },
  {
    ...dm,
    name: 'undelivered',
    title: 'An answer that may not be shown',
    about: 'The platform refused the words. They are said in no other way; the page of the request has them whole.',
    say: 'Summarise what the press wrote about us.',
    trouble: 'refused',
    until: 'content check',
    dark: true,
  },
  {
    ...dm,
    name: 'stranger',
    title: 'Somebody who may not start work',
    about: 'Bob named the bot in a group. He gets one line there; the owner decides in the direct chat, once.',
    room: 'Gateway test group',
    by: 'Bob',
    say: 'Could you write the release notes for Friday?',
    look: 'Direct message',
    until: 'may not start work there',
    waits: true,
    dark: false,
  },
  {
    name: 'policy',
    title: 'Who may start work in a chat',
    about: 'What holds, and the words that change it, in the language in which they were asked for.',
    room: 'Gateway test group',
    language: 'zh-CN',
    say: '/聊天',
    until: '修改示例',
    dark: true,
  },
  {
    name: 'offer',
    title: 'A wider permission',
    about: 'Where the agent names a host or files, the card also offers that host, or their directory, for 30 days.',
    room: 'Topic group',
    language: 'zh-CN',
    say: '请查一下这周的工单数量。',
    until: '始终允许 tracker.example.com',
    waits: true,
    dark: false,
  },
  // From here on a turn waits for the answer, and what comes after it waits as well.
  {
    ...dm,
    name: 'approval',
    title: 'A question before something is done',
    about: 'The exact command, asked where the work was asked for. No button is the usual one.',
    say: 'Free the space on fra-2 that the old backups take.',
    until: 'rm -r /srv/backup',
    from: { phone: 'end' },
    waits: true,
    dark: false,
  },
  {
    ...dm,
    name: 'held',
    title: 'Too much behind one turn',
    about: 'Nothing is dropped and nothing piles up: what is too much is held, and one card asks what shall run.',
    say: 'And the logs of week',
    times: 4,
    until: 'behind a turn that runs',
    from: { desktop: 'end', phone: 'end' },
    waits: true,
    dark: true,
  },
]
