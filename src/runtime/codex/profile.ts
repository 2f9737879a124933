import { readlink } from 'node:fs/promises'
import type { SessionProfile } from '../../collab/audience.js'
import type { Confinement } from '../../collab/ports.js'
import { HOW_TO_GIVE_FILES } from '../answer-files.js'
import { DEFAULT_EFFORT, DEFAULT_MODEL, type CodexDeps, type SandboxMode } from './options.js'
import { fields, text, type Fields } from './read.js'

/** What one session is confined to. */
interface Bounds {
  readonly mode: SandboxMode
  readonly network: boolean
  /** The permission profile of codex that stands for `workspace-only`. */
  readonly name: string
}

/** The owner's settings hold for the owner's own sessions alone: nothing that they allow reaches another audience. */
function boundsOf(profile: SessionProfile, deps: Pick<CodexDeps, 'sandbox' | 'network'>): Bounds {
  return profile.kind === 'owner'
    ? { mode: deps.sandbox, network: deps.network, name: 'lark-manager-workspace-only' }
    : { mode: 'workspace-only', network: false, name: 'lark-manager-restricted' }
}

/** The mode that holds for a profile. */
export const modeOf = (profile: SessionProfile, deps: Pick<CodexDeps, 'sandbox' | 'network'>): SandboxMode =>
  boundsOf(profile, deps).mode

/** Whether this session may not run where codex cannot confine its commands. */
export const mustConfine = (profile: SessionProfile, deps: Pick<CodexDeps, 'sandbox' | 'network'>): boolean =>
  boundsOf(profile, deps).mode === 'workspace-only'

/** Asked for again at every start and every resume: codex remembers none of it. */
export async function profileParams(
  workspace: string,
  profile: SessionProfile,
  pid: number | undefined,
  deps: CodexDeps,
): Promise<Fields> {
  const { sandbox, config } = await confinement(workspace, profile, pid, deps)
  return {
    cwd: workspace,
    model: deps.model || DEFAULT_MODEL,
    developerInstructions: HOW_TO_GIVE_FILES,
    ...sandbox,
    config: {
      model_reasoning_effort: deps.effort || DEFAULT_EFFORT,
      // Settings that lie in its workspace may be the agent's own: they could start programs outside every sandbox.
      projects: { [workspace]: { trust_level: 'untrusted' } },
      ...config,
    },
  }
}

/**
 * What commands may see and write. `workspace-only` needs a permission profile: the modes of old hide nothing from
 * reading, whatever they forbid to write. It holds for the shell, for patches and for pictures that are looked at.
 *
 * @source docs/runtimes.md: tried on the real binary with canaries
 */
async function confinement(
  workspace: string,
  profile: SessionProfile,
  pid: number | undefined,
  deps: CodexDeps,
): Promise<{ readonly sandbox: Fields; readonly config: Fields }> {
  const { mode, network, name } = boundsOf(profile, deps)
  if (mode !== 'workspace-only') {
    const config = { sandbox_workspace_write: { network_access: network } }
    return { sandbox: { sandbox: mode, approvalPolicy: 'on-request' }, config }
  }
  const granted = profile.kind === 'restricted' ? profile.paths : []
  const filesystem: Record<string, string> = {
    ':minimal': 'read',
    ...Object.fromEntries(granted.map(({ path, access }) => [path, access])),
    [workspace]: 'write',
  }
  // The sandbox starts codex itself as its helper, wherever that was installed.
  const program = pid === undefined ? null : await readlink(`/proc/${pid}/exe`).catch(() => null)
  if (program !== null) filesystem[program] = 'read'
  // What is asked for here is to step out, which nobody is meant to.
  return {
    sandbox: { permissions: name, approvalPolicy: 'never' },
    config: { permissions: { [name]: { filesystem, network: { enabled: network } } } },
  }
}

const legacy: Readonly<Record<string, string>> = {
  'workspace-write': 'workspaceWrite',
  'read-only': 'readOnly',
  'danger-full-access': 'dangerFullAccess',
}

/** What is in force otherwise than asked, by the words of the settings; empty: everything is as it was asked. */
export function differences(response: Fields, profile: SessionProfile, deps: CodexDeps): readonly string[] {
  const { mode, name } = boundsOf(profile, deps)
  const asked: readonly (readonly [string, string | null, string])[] = [
    ['model', text(response['model']), deps.model || DEFAULT_MODEL],
    ['effort', text(response['reasoningEffort']), deps.effort || DEFAULT_EFFORT],
    mode === 'workspace-only'
      ? ['sandbox', text(fields(response['activePermissionProfile'])['id']), name]
      : ['sandbox', text(fields(response['sandbox'])['type']), legacy[mode] ?? ''],
  ]
  return asked.filter(([, real, wanted]) => real !== wanted).map(([what]) => what)
}

/** What codex says is in force; what it does not say stays unknown. */
export function confinementOf(response: Fields, profile: SessionProfile, deps: CodexDeps): Confinement {
  const { name, network } = boundsOf(profile, deps)
  const said = {
    profile: profile.kind,
    paths: profile.kind === 'restricted' ? profile.paths : [],
    by: 'runtime',
  } as const
  if (text(fields(response['activePermissionProfile'])['id']) === name) {
    return { ...said, reads: 'workspace', writes: 'workspace', network: network ? 'open' : 'none' }
  }
  const sandbox = fields(response['sandbox'])
  switch (text(sandbox['type'])) {
    case 'workspaceWrite': {
      const open = sandbox['networkAccess']
      const reach = typeof open === 'boolean' ? (open ? 'open' : 'none') : null
      return { ...said, reads: 'everything', writes: 'workspace', network: reach }
    }
    case 'readOnly':
      return { ...said, reads: 'everything', writes: 'nothing', network: 'none' }
    case 'dangerFullAccess':
      return { ...said, reads: 'everything', writes: 'everything', network: 'open', by: 'nobody' }
    default:
      return { ...said, reads: null, writes: null, network: null }
  }
}
