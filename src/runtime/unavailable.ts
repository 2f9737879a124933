import type { HostedRuntime } from './hosted.js'

/** A runtime that this version does not have. It says so and starts nothing. */
export function unavailableRuntime(name: string, detail: string): HostedRuntime {
  return {
    name,
    abilities: new Set(),
    available: async () => ({ available: false, detail }),
    open: async () => ({ outcome: 'unavailable', because: 'unavailable', detail }),
    end: async () => ({ executor: 'gone' }),
  }
}
