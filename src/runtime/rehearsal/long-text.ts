/** Bytes of answer text that fill one card, a little under its limit of 28 000 with what the card itself needs. */
const ONE_CARD = 24_000

/** A readable answer of about `bytes` bytes with everything that is hard to render; the same size is the same text. */
export function longText(bytes: number): string {
  const sections: string[] = []
  let size = 0
  for (let index = 1; size < bytes; index++) {
    const section = sectionOf(index)
    sections.push(section)
    size += Buffer.byteLength(section) + 2
  }
  return sections.join('\n\n')
}

/** Text that takes about `count` cards: more than `count - 1` of them hold, less than `count` of them. */
export function textOfParts(count: number): string {
  const bytes = Math.round((count - 0.4) * ONE_CARD)
  const lines: string[] = []
  let size = 0
  for (let index = 1; size < bytes; index++) {
    const line = `${index}. ${prose(index)}`
    lines.push(line)
    size += Buffer.byteLength(line) + 2
  }
  return lines.join('\n\n')
}

export function tables(count: number): string {
  return Array.from({ length: count }, (_, index) => table(index + 1, 3)).join('\n\n')
}

const sentences = [
  'The first reading and the second reading agree, so the value is kept.',
  '两次读数一致，因此保留这个值；“未核实”的部分单独列出。',
  'This step can be undone, and the way back is written beside it.',
  '下一步需要负责人决定：先修复队列，再发布新版本。',
  'Emoji such as 👩‍👩‍👧‍👦 and 🇨🇳 are one character to a reader and many to a computer.',
  '字段名里可能有 `反引号`、**重点** 和 [链接](https://example.com/a?b=1&c=2)。',
] as const

function prose(seed: number): string {
  return Array.from({ length: 3 }, (_, offset) => sentences[(seed * 5 + offset) % sentences.length]).join(' ')
}

function sectionOf(index: number): string {
  return [
    `## ${index}. Section ${index} 第 ${index} 节`,
    prose(index),
    `- ${prose(index + 1)}\n- ${prose(index + 2)}\n  1. ${prose(index + 3)}`,
    index % 2 === 0 ? table(index, 5) : code(index),
    `> ${prose(index + 4)}`,
  ].join('\n\n')
}

function table(index: number, rows: number): string {
  const body = Array.from(
    { length: rows },
    (_, row) => `| ${index}.${row + 1} | 名称 ${row + 1} | ${(index * 37 + row * 11) % 100} % |`,
  )
  return ['| No. | Name 名称 | Share |', '| --- | --- | ---: |', ...body].join('\n')
}

function code(index: number): string {
  const lines = Array.from({ length: 8 }, (_, line) => `  total += weigh(${index}, ${line}) // 第 ${line} 行`)
  return [
    '```ts',
    `export function section${index}(): number {`,
    '  let total = 0',
    ...lines,
    '  return total',
    '}',
    '```',
  ].join('\n')
}
