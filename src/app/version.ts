import { readFileSync } from 'node:fs'

/** From package.json, beside `src` or two floors above `dist/src/app`. */
export const version: string = (
  JSON.parse(
    readFileSync(
      new URL(import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json', import.meta.url),
      'utf8',
    ),
  ) as { version: string }
).version
