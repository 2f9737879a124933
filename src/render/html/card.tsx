import type { Child } from 'hono/jsx'
import { Prose } from './prose.js'

/** A button of a card that a reader may press; `value` is what the bot will be told. */
export interface CardButton {
  readonly label: string
  readonly value: string
  /** The usual choice of its card. */
  readonly usual: boolean
}

type Json = Readonly<Record<string, unknown>>

/** Deeper nesting than any card has. */
const depthLimit = 8

/**
 * A card (JSON 2.0) as a reader of our own chat page sees it: texts, tables, rules, pictures and buttons. Layout and
 * colours are left out; an element that is not known shows the texts inside it.
 */
export function Card(props: { content: string; pictureOf: (key: string) => string; button: (b: CardButton) => Child }) {
  const card = objectIn(props.content)
  if (card === null) return <p class="muted">—</p>
  const header = asObject(card['header'])
  const title = textOf(header?.['title'])
  const body = asObject(card['body'])
  return (
    <>
      {title === '' ? null : <p class="card-title">{title}</p>}
      <Elements {...props} of={body?.['elements'] ?? card['elements']} depth={0} />
    </>
  )
}

interface ElementsProps {
  readonly of: unknown
  readonly depth: number
  readonly pictureOf: (key: string) => string
  readonly button: (b: CardButton) => Child
}

function Elements(props: ElementsProps) {
  if (!Array.isArray(props.of) || props.depth > depthLimit) return null
  return (
    <>
      {props.of.map((element) => {
        const known = asObject(element)
        return known === null ? null : <Element {...props} element={known} />
      })}
    </>
  )
}

function Element(props: ElementsProps & { element: Json }) {
  const { element, depth } = props
  const inside = (of: unknown) => <Elements {...props} of={of} depth={depth + 1} />
  switch (element['tag']) {
    case 'markdown':
    case 'lark_md':
      return <Prose text={withoutFonts(String(element['content'] ?? ''))} />
    case 'plain_text':
      return <p class="said">{String(element['content'] ?? '')}</p>
    case 'div':
      return inside([element['text'], ...(Array.isArray(element['fields']) ? element['fields'] : [])])
    case 'hr':
      return <hr />
    case 'img':
      return <img src={props.pictureOf(String(element['img_key'] ?? ''))} alt={textOf(element['alt'])} />
    case 'table':
      return <Table table={element} />
    case 'button':
      return (
        <>
          {props.button({
            label: textOf(element['text']),
            value: JSON.stringify(valueOf(element)),
            usual: element['type'] === 'primary',
          })}
        </>
      )
    default: {
      const header = asObject(element['header'])
      return (
        <>
          {header === null ? null : <p class="card-title">{textOf(header['title'])}</p>}
          {inside(element['text'] === undefined ? [] : [element['text']])}
          {inside(element['columns'])}
          {inside(element['actions'])}
          {inside(element['elements'])}
        </>
      )
    }
  }
}

function Table(props: { table: Json }) {
  const columns = list(props.table['columns'])
  const rows = list(props.table['rows'])
  return (
    <div class="scroll prose">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th>{String(column['display_name'] ?? column['name'] ?? '')}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <td>{cellText(row[String(column['name'])])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cellText(cell: unknown): string {
  if (Array.isArray(cell)) return cell.map((one) => textOf(one) || cellText(asObject(one)?.['text'])).join(', ')
  return cell === undefined || cell === null ? '' : String(cell)
}

/** What a press reports: the behaviour's value, or the older form's. */
function valueOf(button: Json): unknown {
  const callback = list(button['behaviors']).find((behaviour) => behaviour['type'] === 'callback')
  return callback?.['value'] ?? button['value'] ?? {}
}

/** Colour marks of the platform's Markdown; the words stay. */
function withoutFonts(markdown: string): string {
  return markdown.replaceAll(/<\/?font[^>]{0,60}>/g, '')
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(asObject).filter((one) => one !== null) : []
}

function textOf(text: unknown): string {
  if (typeof text === 'string') return text
  const content = asObject(text)?.['content']
  return typeof content === 'string' ? content : ''
}

function asObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
}

/** A JSON text as an object, or null. */
export function objectIn(text: string): Json | null {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return null
  }
}
