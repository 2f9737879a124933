import type { ManagerBinding } from '../../src/web/doctor.js'

/** Of a gateway that has no model: what is not known is null. */
export const noModel: ManagerBinding = {
  endpoint: 'rehearsal',
  endpointSource: 'default',
  executorKind: null,
  model: null,
  modelSource: null,
  effort: null,
  credential: null,
  available: true,
  unavailableReason: null,
}
