import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Meter } from '../collab/ports.js'
import { SECOND } from '../lib/time.js'

export interface Metrics extends Meter {
  text(): Promise<string>
  /** Filled when the metrics are asked for. */
  onCollect(
    fill: (set: (name: GaugeName, labels: Readonly<Record<string, string>>, value: number) => void) => Promise<void>,
  ): void
}

export type GaugeName = 'queue_jobs' | 'requests_unresolved'

const fast = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 5]
const slow = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800]

/** The names of the contract over prom-client; a label value is never an id. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const histogram = (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers })
  const counter = (name: string, help: string, label: string) =>
    new Counter({ name, help, labelNames: [label], registers })
  const seconds = {
    ingress_receipt_seconds: histogram(
      'ingress_receipt_seconds',
      'Event accepted until the reaction was accepted by Lark',
      fast,
    ),
    ingress_ack_seconds: histogram('ingress_ack_seconds', 'Event received until the provider was answered', fast),
    first_answer_seconds: histogram(
      'first_answer_seconds',
      'Event accepted until the first answer was committed',
      slow,
    ),
    assessment_seconds: histogram('assessment_seconds', 'Presentation until assessment', slow),
    result_to_verified_seconds: histogram(
      'result_to_verified_seconds',
      'Result committed until its delivery was verified',
      slow,
    ),
  }
  const calls = histogram('lark_api_seconds', 'Calls to Lark', fast, ['api', 'code'])
  const counts = {
    deliveries_total: { counter: counter('deliveries_total', 'Deliveries by their end', 'state'), label: 'state' },
    reactions_total: { counter: counter('reactions_total', 'Reactions by their end', 'state'), label: 'state' },
    routing_refused_total: {
      counter: counter('routing_refused_total', 'Messages refused a turn', 'reason'),
      label: 'reason',
    },
    context_coverage: {
      counter: counter('context_coverage', 'Recalls by what came of them', 'outcome'),
      label: 'outcome',
    },
    approvals_repeated_total: {
      counter: counter('approvals_repeated_total', 'Approvals asked again', 'reason'),
      label: 'reason',
    },
  }
  const lastEvent = new Gauge({
    name: 'lark_last_event_timestamp',
    help: 'When the last event came, in seconds since the epoch',
    registers,
  })
  const gauges: Readonly<Record<GaugeName, Gauge<string>>> = {
    queue_jobs: new Gauge({
      name: 'queue_jobs',
      help: 'Jobs in each state',
      labelNames: ['queue', 'state'],
      registers,
    }),
    requests_unresolved: new Gauge({
      name: 'requests_unresolved',
      help: 'Unresolved requests by axis: waiting for a turn, in one, held; answers to be sent, in doubt, failed',
      labelNames: ['axis', 'value'],
      registers,
    }),
  }
  const fills: ((
    set: (name: GaugeName, labels: Readonly<Record<string, string>>, value: number) => void,
  ) => Promise<void>)[] = []
  return {
    observe: (name, value) => seconds[name].observe(value),
    api: (api, code, value) => calls.observe({ api, code }, value),
    count: (name, label) => counts[name].counter.inc({ [counts[name].label]: label }),
    lastEvent: (at) => lastEvent.set(at / SECOND),
    onCollect: (fill) => void fills.push(fill),
    async text() {
      // A value that nothing has any more must not stay.
      gauges.requests_unresolved.reset()
      for (const fill of fills) await fill((name, labels, value) => gauges[name].set({ ...labels }, value))
      return await registry.metrics()
    },
  }
}
