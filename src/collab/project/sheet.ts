import type { Confinement, EffectiveProfile } from '../ports.js'

/** What an agent is told of its session when that begins. */
export interface Sheet {
  readonly host: string
  readonly effective: EffectiveProfile
  /** The tools of the gateway are there. */
  readonly tools: boolean
  /** Standing permissions that may be used here. */
  readonly grants: number
  /** An earlier session of this conversation ran with another profile, and this one does not continue it. */
  readonly otherProfile: boolean
}

/**
 * The effective profile of a session in words: what the runtime says is in force, not what was set. What it does not say
 * is named as not known.
 *
 * @source RFC §5.1 ("At session start, expose the effective host, model/effort, accessible resource classes …")
 */
export function sheetLines({ host, effective, tools, grants, otherProfile }: Sheet): readonly string[] {
  const { runtime, version, model, effort, confinement } = effective
  const differs = effective.differs ?? []
  return [
    `- Host: ${host}. Runtime: ${version === null ? runtime : `${runtime} (${version})`}.`,
    `- Model: ${model ?? 'not said'}; effort: ${effort ?? 'not said'}.`,
    ...(confinement === undefined ? [] : confinementLines(confinement)),
    `- Tools: those of the runtime${tools ? ', and those of the gateway' : '; none of the gateway'}.`,
    `- Standing permissions for you here: ${grants}. What none of them covers is asked for, not worked around.`,
    ...(differs.length === 0 ? [] : [`- In force otherwise than it was set: ${differs.join(', ')}.`]),
    ...(otherProfile
      ? [
          '- An earlier session of this conversation ran with another profile, so this one does not continue it. Its plans, constraints and what is still owed are on record and bind as before.',
        ]
      : []),
  ]
}

function confinementLines(of: Confinement): readonly string[] {
  const restricted = of.profile === 'restricted'
  return [
    restricted
      ? '- Profile: restricted, because others read or write where this was asked.'
      : '- Profile: the owner’s own.',
    `- Files: you read ${reach[of.reads ?? 'unknown']} and write ${reach[of.writes ?? 'unknown']}.`,
    ...of.paths.map(({ path, access }) => `- Granted, to ${access}: ${path}`),
    `- Network of your commands: ${network(of)}`,
  ]
}

const reach = {
  nothing: 'no files',
  workspace: 'your workspace and what is granted',
  everything: 'whatever the user of the gateway can',
  unknown: '(not known)',
} as const

function network({ network: open, profile }: Confinement): string {
  if (open === null) return 'not known.'
  if (open === 'none') return 'none.'
  return profile === 'restricted'
    ? 'open, because it cannot be cut here. Send nothing out that was asked here.'
    : 'open.'
}
