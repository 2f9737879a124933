import { cardRefused, type Refused } from './answer.js'

/** What a card may refer to; unknown names are refused as the platform does. */
export interface CardReferences {
  readonly imageKeys: { has(key: string): boolean }
  readonly people: { has(openId: string): boolean }
}

type Json = Readonly<Record<string, unknown>>

/** Limits of a 2.0 card. Source: card JSON 2.0 pages; the code of the two table limits is 230099 / 11310. */
export const cardLimits = { elements: 200, tables: 5, tablesPerMarkdown: 4, columns: 50, elementIdLength: 20 } as const

const bodyTags = new Set(
  [
    'column_set column form interactive_container collapsible_panel',
    'markdown div img img_combination person person_list chart table hr audio',
    'input button overflow select_static multi_select_static select_person multi_select_person',
    'date_picker picker_time picker_datetime select_img checker',
  ].flatMap((line) => line.split(' ')),
)

/**
 * Checks a card as sending does. Returns the parsed card, or the refusal with its sub-code:
 * 200621 not JSON or not a 2.0 card, 200861 unknown tag, 11310 too many elements or tables, 200570 bad image,
 * 100290 unknown person, 300301 element id given twice, 300303 element id malformed, 200914 bad table.
 */
export function checkCard(content: string, refer: CardReferences): Json | Refused {
  const card = parseObject(content)
  if (card === null) return cardRefused(200621, 'parse card json err')
  if (card['schema'] !== '2.0') return cardRefused(200621, 'only schema 2.0 is known here', 'schema')
  const body = card['body']
  if (!isObject(body) || !Array.isArray(body['elements']))
    return cardRefused(200621, 'body.elements is required', 'body')
  const unknown = Object.keys(card).find((key) => !['schema', 'config', 'header', 'body', 'card_link'].includes(key))
  if (unknown !== undefined) return cardRefused(200621, 'unknown property', unknown)

  const elements: Json[] = []
  const broken = collect(body['elements'], elements, 0)
  if (broken !== null) return broken
  if (elements.length > cardLimits.elements) return cardRefused(11310, 'card element number over limit', 'elements')
  const seen = new Set<string>()
  let tables = 0
  for (const element of elements) {
    const id = element['element_id']
    if (id !== undefined) {
      if (typeof id !== 'string' || !/^[A-Za-z]\w{0,19}$/.test(id)) return cardRefused(300303, 'bad element_id')
      if (seen.has(id)) return cardRefused(300301, 'element_id is given twice', id)
      seen.add(id)
    }
    const own = element['tag'] === 'markdown' ? checkMarkdown(element, refer) : checkElement(element, refer)
    if (typeof own !== 'number') return own
    tables += own
  }
  return tables > cardLimits.tables ? cardRefused(11310, 'card table number over limit', 'table') : card
}

/** Walks every nested list of elements; text and icon parts inside an element are not elements. */
function collect(list: readonly unknown[], into: Json[], depth: number): Refused | null {
  for (const element of list) {
    if (!isObject(element) || typeof element['tag'] !== 'string') return cardRefused(200621, 'element without a tag')
    const tag = element['tag']
    if (!bodyTags.has(tag)) return cardRefused(200861, 'tag is not supported in 2.0', tag)
    if (tag === 'table' && depth > 0) return cardRefused(200914, 'table only at the root', 'table')
    into.push(element)
    for (const key of ['elements', 'columns'] as const) {
      const nested = element[key]
      // A table's columns are descriptions, not elements.
      if (tag === 'table' || !Array.isArray(nested)) continue
      const broken = collect(nested, into, depth + 1)
      if (broken !== null) return broken
    }
  }
  return null
}

/** The number of tables the element counts for. */
function checkElement(element: Json, refer: CardReferences): number | Refused {
  switch (element['tag']) {
    case 'img':
      return typeof element['img_key'] === 'string' && refer.imageKeys.has(element['img_key'])
        ? 0
        : cardRefused(200570, 'card image is invalid', 'img_key')
    case 'table': {
      const { columns, rows, page_size: pageSize } = element
      if (!Array.isArray(columns) || columns.length === 0 || columns.length > cardLimits.columns)
        return cardRefused(200914, 'bad table columns', 'columns')
      if (!Array.isArray(rows)) return cardRefused(200914, 'bad table rows', 'rows')
      if (pageSize !== undefined && !(Number.isInteger(pageSize) && Number(pageSize) >= 1 && Number(pageSize) <= 10))
        return cardRefused(200914, 'bad page_size', 'page_size')
      return 1
    }
    case 'button':
      return isObject(element['text']) ? 0 : cardRefused(200621, 'button without text', 'text')
    case 'div':
      return isObject(element['text']) || Array.isArray(element['fields']) ? 0 : cardRefused(200621, 'div without text')
    default:
      return 0
  }
}

function checkMarkdown(element: Json, refer: CardReferences): number | Refused {
  const content = element['content']
  if (typeof content !== 'string') return cardRefused(200621, 'markdown without content', 'content')
  const prose = withoutCode(content)
  for (const [, key = ''] of prose.matchAll(/!\[[^\]]*\]\(([^)\s]*)[^)]*\)/g))
    if (!refer.imageKeys.has(key)) return cardRefused(200570, 'image key is invalid', 'markdown')
  for (const [, quoted = ''] of prose.matchAll(/<at\s+ids?=["']?([^"'>\s]+)["']?\s*>/g))
    for (const id of quoted.split(','))
      if (id !== 'all' && !refer.people.has(id)) return cardRefused(100290, 'person id is invalid', 'at')
  const tables = countTables(prose)
  return tables > cardLimits.tablesPerMarkdown ? cardRefused(11310, 'card table number over limit', 'table') : tables
}

/** A line with a bar followed by a delimiter row, as GitHub's tables are written. */
export function countTables(prose: string): number {
  const lines = prose.split('\n').map((line) => line.trim())
  const isDelimiter = (line: string): boolean => line.includes('|') && /^[|:\- ]+$/.test(line) && line.includes('-')
  return lines.filter(
    (line, at) => isDelimiter(line) && !isDelimiter(lines[at - 1] ?? '') && lines[at - 1]?.includes('|'),
  ).length
}

/** Fenced blocks and inline code hold no images, mentions or tables. */
export function withoutCode(markdown: string): string {
  return markdown
    .replace(/^(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)?\1[^\n]*$/gm, '')
    .replace(/^(?:`{3,}|~{3,})[\s\S]*$/gm, '')
    .replace(/`[^`\n]*`/g, '')
}

export function parseObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
