import { isObject, parseObject } from './card-check.js'

/**
 * A card as other readers get it: `{title, elements:[[node]]}`, the layout gone, texts and buttons kept.
 * Source: message_content; real cards vary widely, so nothing may depend on more than the texts.
 */
export function shownCard(content: string): string {
  const card = parseObject(content)
  if (card === null) return JSON.stringify({ title: '', elements: [] })
  const header = isObject(card['header']) ? card['header'] : {}
  const body = isObject(card['body']) ? card['body'] : {}
  return JSON.stringify({ title: textOf(header['title']), elements: paragraphs(body['elements']) })
}

function paragraphs(elements: unknown): object[][] {
  if (!Array.isArray(elements)) return []
  return elements.filter(isObject).flatMap((element): object[][] => {
    switch (element['tag']) {
      case 'markdown':
        return [[{ tag: 'text', text: element['content'] }]]
      case 'plain_text':
      case 'lark_md':
        return [[{ tag: 'text', text: element['content'] }]]
      case 'div':
        return [[{ tag: 'text', text: textOf(element['text']) }]]
      case 'button':
        return [[{ tag: 'button', text: textOf(element['text']), type: element['type'] ?? 'default' }]]
      case 'img':
        return [[{ tag: 'img', image_key: element['img_key'] }]]
      case 'hr':
        return [[{ tag: 'hr' }]]
      case 'table':
        return [[{ tag: 'text', text: tableText(element) }]]
      default:
        return [...paragraphs(element['columns']), ...paragraphs(element['elements'])]
    }
  })
}

function tableText(table: Readonly<Record<string, unknown>>): string {
  const columns = Array.isArray(table['columns']) ? table['columns'].filter(isObject) : []
  const rows = Array.isArray(table['rows']) ? table['rows'].filter(isObject) : []
  const head = columns.map((column) => String(column['display_name'] ?? column['name'] ?? ''))
  const cells = rows.map((row) => columns.map((column) => String(row[String(column['name'])] ?? '')))
  return [head, ...cells].map((line) => line.join(' | ')).join('\n')
}

const textOf = (text: unknown): string => (isObject(text) && typeof text['content'] === 'string' ? text['content'] : '')
