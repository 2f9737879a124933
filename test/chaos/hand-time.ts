import type { Timers } from '../../src/sandbox/timers.js'

/** Time that moves only when told, for the gateway, the platform and every timer of both. */
export class HandTime {
  private due: { at: number; fn: () => void }[] = []
  private readonly repeating = new Set<{ at: number; readonly ms: number; readonly fn: () => Promise<void> }>()
  constructor(private time: number) {}

  now(): number {
    return this.time
  }

  /** For the platform: what it set happens on its own. */
  readonly timers: Timers = {
    set: (fn, ms) => {
      const entry = { at: this.time + ms, fn }
      this.due.push(entry)
      return () => void (this.due = this.due.filter((one) => one !== entry))
    },
  }

  every(ms: number, fn: () => Promise<void>): () => void {
    const entry = { at: this.time + ms, ms, fn }
    this.repeating.add(entry)
    return () => void this.repeating.delete(entry)
  }

  /** `asleep`: the gateway's own timers do not run, as on a machine that was suspended. */
  async advance(ms: number, asleep: boolean): Promise<void> {
    const until = this.time + ms
    for (;;) {
      const repeating = asleep ? [] : [...this.repeating]
      const at = Math.min(...this.due.map((one) => one.at), ...repeating.map((one) => one.at))
      if (at > until) break
      this.time = Math.max(this.time, at)
      const fired = this.due.filter((one) => one.at <= this.time)
      this.due = this.due.filter((one) => one.at > this.time)
      for (const one of fired) one.fn()
      for (const one of repeating.filter((each) => each.at <= this.time)) {
        one.at = this.time + one.ms
        await one.fn()
      }
    }
    this.time = until
  }
}
