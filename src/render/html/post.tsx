/** A rich text of the platform, in the sent or the received shape. */
export function Post(props: { content: Readonly<Record<string, unknown>>; pictureOf: (key: string) => string }) {
  const post = bodyOf(props.content)
  const title = typeof post['title'] === 'string' ? post['title'] : ''
  const paragraphs = Array.isArray(post['content']) ? post['content'] : []
  return (
    <div class="prose">
      {title === '' ? null : <p class="card-title">{title}</p>}
      {paragraphs.map((paragraph) => (
        <Paragraph nodes={Array.isArray(paragraph) ? paragraph : []} pictureOf={props.pictureOf} />
      ))}
    </div>
  )
}

type Node = Readonly<Record<string, unknown>>

function Paragraph(props: { nodes: readonly unknown[]; pictureOf: (key: string) => string }) {
  const nodes = props.nodes.filter((node): node is Node => typeof node === 'object' && node !== null)
  const [only] = nodes
  if (nodes.length === 1 && only?.['tag'] === 'code_block') return <pre class="code">{String(only['text'] ?? '')}</pre>
  if (nodes.length === 1 && only?.['tag'] === 'hr') return <hr />
  return (
    <p>
      {nodes.map((node) => (
        <Inline node={node} pictureOf={props.pictureOf} />
      ))}
    </p>
  )
}

function Inline(props: { node: Node; pictureOf: (key: string) => string }) {
  const { node } = props
  const text = String(node['text'] ?? '')
  switch (node['tag']) {
    case 'a': {
      const href = String(node['href'] ?? '')
      if (!/^https?:\/\//i.test(href)) return <>{text}</>
      return (
        <a href={href} rel="noopener noreferrer nofollow" target="_blank">
          {text}
        </a>
      )
    }
    case 'at':
      return <strong>@{String(node['user_name'] ?? node['user_id'] ?? '')}</strong>
    case 'img':
      return <img src={props.pictureOf(String(node['image_key'] ?? ''))} alt="" />
    case 'emotion':
      return <>[{String(node['emoji_type'] ?? '')}]</>
    case 'code_block':
      return <code>{text}</code>
    default:
      return styles(node).includes('bold') ? <strong>{text}</strong> : <>{text}</>
  }
}

function styles(node: Node): readonly unknown[] {
  return Array.isArray(node['style']) ? node['style'] : []
}

/** Sent posts have their language around them. */
function bodyOf(content: Readonly<Record<string, unknown>>): Node {
  if (Array.isArray(content['content'])) return content
  const inner = Object.values(content).find((value): value is Node => typeof value === 'object' && value !== null)
  return inner ?? {}
}
