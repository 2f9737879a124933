import { artifactTools } from './tools-artifacts.js'
import { requestTools } from './tools-requests.js'
import { workTools } from './tools-work.js'
import type { Tool } from './tool.js'

/** Every tool there is, the same for manager and workers; what a caller may do is decided per call. */
export const tools: readonly Tool[] = [...requestTools, ...artifactTools, ...workTools]

const byName = new Map(tools.map((tool) => [tool.name, tool]))

export function toolNamed(name: string): Tool | null {
  return byName.get(name) ?? null
}
