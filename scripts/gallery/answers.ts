import { handbook, report } from './long.js'

/** What is asked in the gallery, and what the scripted agent does about it. The words are ours; no model wrote them. */
export interface Scripted {
  /** The owner's message begins with it. */
  readonly ask: string
  readonly answer?: string
  /** Files beside the answer, made from text. */
  readonly files?: readonly { readonly name: string; readonly type: string; readonly text: string }[]
  /** Asks for permission of this command before it answers. */
  readonly command?: string
  /** Asks for permission to read from this address before it answers. */
  readonly address?: string
  /** Works until it is stopped. */
  readonly works?: true
  /** Ends without an answer. */
  readonly exits?: true
}

const tables = `Four tables in one answer. A message takes three, so the fourth comes in a second one.

### Services

| Service | Version | State | Restarts |
| :--- | :--- | :---: | ---: |
| gateway | 2.4.1 | moved | 0 |
| ledger | 1.9.0 | moved | 1 |
| report-generator | 0.3.0 | waits for the database | 12 |

### Hosts

| Host | Free disk | Load |
| :--- | ---: | ---: |
| fra-1 | 412 GB | 0.31 |
| fra-2 | 38 GB | **2.90** |

### Who is on call

| Week | Person | Deputy |
| :--- | :--- | :--- |
| 49 | Alice | Bob |
| 50 | Bob | \`nobody\` |

### Costs

| Item | October | November | Change |
| :--- | ---: | ---: | ---: |
| machines | 1 204.00 € | 1 187.50 € | −1.4 % |
| storage | 310.20 € | 402.75 € | **+29.8 %** |
| traffic | 88.00 € | 91.10 € | +3.5 % |
`

const code = `The race is between reading and writing the head. Lock it first, then read:

\`\`\`ts
export async function append(db: Db, id: RequestId, facts: readonly Fact[]): Promise<Receipt> {
  return db.tx(async (tx) => {
    const head = await tx.sql\`select revision from heads where id = \${id} for update\`
    return head.revision === facts[0]?.revision ? commit(tx, facts) : { outcome: 'conflict' }
  })
}
\`\`\`

Then run it against a real database:

\`\`\`sh
npx vitest run --project pg test/stores/heads --reporter=verbose
\`\`\`

Set \`lock_timeout\` to \`2s\`, so that a stuck holder is seen. The whole change:

\`\`\`diff
-    const head = await tx.sql\`select revision from heads where id = \${id}\`
+    const head = await tx.sql\`select revision from heads where id = \${id} for update\`
\`\`\`
`

const lists = `## Plan for Friday

1. **Before noon**: freeze the branch
   - tell the team in the group
   - close what is open:
     - two reviews
     - one migration
2. **At noon**: release
3. **After it**: watch for an hour

- [x] notes written
- [x] backup tried, *and* restored
- [ ] rollback rehearsed

> Whoever finds a fault says so in the group first.
> The release waits; nobody has to ask twice.

The limits come from the contract[^1]. More in [the handbook](https://example.com/handbook).

[^1]: Section 4, “Numbers”.
`

const scripts = `**结论**：三个版本都能正常显示，可以发布。👩‍👩‍👧‍👦 🎉

| 语言 | 示例 | 结果 |
| :--- | :--- | :---: |
| 中文 | 你好，世界！“引号”与——破折号 | ✅ |
| العربية | مرحبا بالعالم، هذه جملة قصيرة | ✅ |
| 日本語 | こんにちは、世界。カタカナも | ✅ |
| 한국어 | 안녕하세요, 세계 | ⚠️ |

1. 中文标点不换行到行首，**重点**紧贴文字也能识别。
2. النص العربي يُقرأ من اليمين إلى اليسار، حتى مع كلمة \`gateway\` في وسطه.
3. 表情 🇨🇳 👨🏽‍💻 不会被切成两半。

韩文字体还缺一个粗体字重，不影响发布。
`

const chart = `Requests rose on every day of the week; Friday is incomplete.

\`\`\`chart
{
  "type": "bar",
  "title": "Requests per day",
  "unit": "thousand",
  "x": ["Mon", "Tue", "Wed", "Thu", "Fri"],
  "series": [
    { "name": "this week", "values": [12.1, 13.4, 13.9, 15.2, null] },
    { "name": "last week", "values": [10.2, 11.9, 12.6, 12.4, 11.8] }
  ]
}
\`\`\`

Most of it comes from one client, *report-generator*.
`

export const scripted: readonly Scripted[] = [
  {
    ask: 'When does the certificate of the gateway expire?',
    answer: 'On 12 March 2027, in 102 days. It renews by itself 30 days before that; nothing is to be done.',
  },
  { ask: 'Write down how a release goes', answer: handbook() },
  { ask: 'Show me services, hosts, on-call and costs', answer: tables },
  { ask: 'Why does the head sometimes go back?', answer: code },
  { ask: 'What is the plan for Friday?', answer: lists },
  { ask: '三个语言版本都检查过了吗？', answer: scripts },
  { ask: '请给出十一月的完整运行报告。', answer: report() },
  { ask: 'How many requests did we have this week?', answer: chart },
  {
    ask: 'Who is on call next week?',
    answer: 'Bob, from Monday 9:00. The calendar of the whole quarter is attached.',
    files: [{ name: 'on-call Q1 值班.csv', type: 'text/csv', text: 'week,person\n49,Alice\n50,Bob\n' }],
  },
  { ask: 'Read the whole repository', works: true },
  { ask: 'Compare the two drafts', exits: true },
  {
    ask: 'Free the space on fra-2',
    command: 'ssh fra-2 sudo rm -r /srv/backup/2026-08',
    answer: 'Done: 214 GB are free again.',
  },
  {
    ask: '请查一下这周的工单数量',
    address: 'https://tracker.example.com/api/count',
    answer: '这周有 41 个工单，比上周少 6 个。',
  },
  { ask: 'Summarise what the press wrote', answer: 'Three papers wrote about it, all of them kindly.' },
]
