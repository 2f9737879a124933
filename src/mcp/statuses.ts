import { refusalStatus } from '../collab/refusal-status.js'
import type { AnyReason, DoorRefusal } from './answer.js'

const ofDoor = {
  'bad-arguments': 400,
  'unknown-tool': 404,
  'not-visible': 404,
  'work-refused': 409,
  'work-unavailable': 503,
  'work-ambiguous': 502,
  unavailable: 503,
  'artifact-too-large': 413,
  'file-too-large': 413,
  'artifact-unreadable': 502,
} as const satisfies Record<DoorRefusal['reason'], number>

const statuses: Readonly<Record<AnyReason, number>> = { ...refusalStatus, ...ofDoor }

export const statusOf = (reason: AnyReason): number => statuses[reason]
