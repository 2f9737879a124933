import { agentPath, createAgentHttp } from './http.js'
import { createMcp, type McpDeps } from './server.js'

/** The agents' door: MCP at `/mcp`, the same tools over plain HTTP below `/api/v1/agent/`. */
export function createAgentDoor(deps: McpDeps): (request: Request) => Promise<Response> {
  const mcp = createMcp(deps)
  const http = createAgentHttp(deps)
  return (request) => (new URL(request.url).pathname.startsWith(agentPath) ? http(request) : mcp(request))
}
