import type { McpServer } from '@agentclientprotocol/sdk'
import type { SessionSpec, ToolAccess } from '../../collab/ports.js'
import { errorLabel } from '../../lib/log.js'
import type { AcpSettings } from './options.js'
import type { AcpPeer } from './peer.js'
import type { Trouble } from '../trouble.js'

/** How our tools are called in the agent's list of servers. */
const NAME = 'lark-manager'

/**
 * Our tools as this agent can reach them: over HTTP when it says that it can, else through a bridge on its standard
 * input and output, which every ACP agent can start. Asks for the token, so it is called once for each process.
 *
 * @source ACP: session/new, `mcpServers`; `mcpCapabilities.http`
 */
export async function toolServers(
  peer: AcpPeer,
  tools: NonNullable<SessionSpec['tools']> | null,
  settings: AcpSettings,
): Promise<McpServer[] | Trouble> {
  if (tools === null) return []
  const speaksHttp = peer.capabilities.mcpCapabilities?.http === true
  if (!speaksHttp && settings.bridge === null) {
    settings.logger.warn('an agent cannot reach its tools', { reason: 'unsupported' })
    return []
  }
  let access: ToolAccess
  try {
    access = await tools()
  } catch (error) {
    settings.logger.error('no token for an agent', { error: errorLabel(error) })
    return { because: 'unavailable', detail: 'the tools of the agent could not be prepared' }
  }
  const { url, token } = access
  if (speaksHttp || settings.bridge === null) {
    return [{ type: 'http', name: NAME, url, headers: [{ name: 'Authorization', value: `Bearer ${token}` }] }]
  }
  const { command, args } = settings.bridge
  return [
    {
      name: NAME,
      command,
      args: [...args, '--url', new URL(url).origin, 'mcp'],
      // In the environment and not in the arguments: those are shown to every user of the machine.
      env: [{ name: 'LARK_MANAGER_AGENT_TOKEN', value: token }],
    },
  ]
}
