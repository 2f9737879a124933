import type { AgentDirectory, AgentRuntime, SessionRef } from '../collab/ports.js'
import { MANAGER, type AgentId, type LaneId } from '../collab/refs.js'
import type { HostedRuntime } from '../runtime/hosted.js'
import { endpoints, hostsWithoutChat, type Endpoint, type RuntimeChoice } from '../runtime/registry.js'
import { unavailableRuntime } from '../runtime/unavailable.js'

export interface Runtimes {
  /** Null: an attached agent, which pulls by itself, or nobody of that name. */
  runtimeFor(agent: AgentId): Promise<AgentRuntime | null>
  /** Ends every agent's runtime but the manager's; later ones start nothing. */
  end(): Promise<void>
}

/**
 * The runtimes of managed agents: one for each agent and endpoint, made when first needed and kept until the end. An
 * agent that is registered anew with another endpoint gets another one; turns on the earlier one are not disturbed.
 *
 * @param manager the manager's own runtime, which its maker ends
 * @param open    makes one, with the limits of a turn around it
 * @param saw     told whenever an agent's executor could be had, or could not; it neither waits nor throws
 */
export function createRuntimes(parts: {
  readonly manager: AgentRuntime
  readonly directory: AgentDirectory
  readonly open: (choice: RuntimeChoice) => HostedRuntime
  readonly saw: (agent: AgentId, reachable: boolean) => void
}): Runtimes {
  const { manager, directory, open, saw } = parts
  const made = new Map<string, HostedRuntime>()
  let ended = false
  return {
    async runtimeFor(agent) {
      if (agent === MANAGER) return manager
      const endpoint = (await directory.find(agent))?.endpoint
      if (endpoint === undefined || endpoint.kind === 'attached') return null
      const { runtime, command } = endpoint
      if (ended) return unavailableRuntime(runtime, 'the gateway is stopping')
      if (!isEndpoint(runtime)) return unavailableRuntime(runtime, `this version has no runtime named ${runtime}`)
      const key = JSON.stringify([agent, runtime, command])
      const known = made.get(key)
      if (known !== undefined) return known
      const opened = open({
        endpoint: runtime,
        ...(command === null ? {} : { command, commandName: `the command of agent ${agent}` }),
      })
      const fresh = withEvidence(opened, (reachable) => saw(agent, reachable))
      made.set(key, fresh)
      return fresh
    },
    async end() {
      ended = true
      await Promise.all([...made.values()].map((runtime) => runtime.end()))
    },
  }
}

function withEvidence(runtime: HostedRuntime, saw: (reachable: boolean) => void): HostedRuntime {
  return {
    name: runtime.name,
    abilities: runtime.abilities,
    available: () => runtime.available(),
    end: () => runtime.end(),
    ...(runtime.quiesce === undefined
      ? {}
      : { quiesce: (session: SessionRef, lane: LaneId) => runtime.quiesce!(session, lane) }),
    ...(runtime.confines === undefined ? {} : { confines: () => runtime.confines!() }),
    ...(runtime.checks === undefined ? {} : { checks: runtime.checks }),
    ...(runtime.binding === undefined ? {} : { binding: runtime.binding }),
    async open(spec, signal) {
      const opening = await runtime.open(spec, signal)
      // Nobody reached it when we gave up ourselves, or when it was not tried because nothing here can confine it.
      if (opening.outcome === 'opened') saw(true)
      else if (opening.outcome === 'unavailable' && !signal.aborted) saw(false)
      return opening
    },
  }
}

const isEndpoint = (name: string): name is Endpoint =>
  [...endpoints, ...hostsWithoutChat].some((known) => known === name)
