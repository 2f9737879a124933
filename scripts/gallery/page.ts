import type { Scene } from './scenes.js'

const head = `# Gallery

What answers look like. Every picture is a real one: a gateway with its sandbox, a scripted agent whose words stand in
\`scripts/gallery/answers.ts\`, and the chat page in a browser at 1280 and 390 pixels, light and dark. The sandbox page
shows the same bytes that Lark would get; a Lark client draws cards in its own way.

\`npm run gallery\` takes all of them again and writes this page.
`

/** The page that shows all scenes. */
export function gallery(scenes: readonly Scene[]): string {
  const parts = scenes.map(
    ({ name, title, about }) => `## ${title}

${about}

<p>
<img src="gallery/${name}-desktop.png" alt="${title}, on a desktop" width="640" />
<img src="gallery/${name}-phone.png" alt="${title}, on a phone" width="195" />
</p>
`,
  )
  return [head, ...parts].join('\n')
}
