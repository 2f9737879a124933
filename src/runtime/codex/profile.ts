import { readlink } from 'node:fs/promises'
import { HOW_TO_GIVE_FILES } from '../answer-files.js'
import { DEFAULT_EFFORT, DEFAULT_MODEL, type CodexDeps } from './options.js'
import { fields, text, type Fields } from './read.js'

/** The permission profile of codex that stands for `workspace-only`. */
const PROFILE = 'lark-manager-workspace-only'

/** Asked for again at every start and every resume: codex remembers none of it. */
export async function profileParams(workspace: string, pid: number | undefined, deps: CodexDeps): Promise<Fields> {
  const { sandbox, config } = await confinement(workspace, pid, deps)
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
  pid: number | undefined,
  deps: CodexDeps,
): Promise<{ readonly sandbox: Fields; readonly config: Fields }> {
  const { sandbox: mode, network } = deps
  if (mode !== 'workspace-only') {
    const config = { sandbox_workspace_write: { network_access: network } }
    return { sandbox: { sandbox: mode, approvalPolicy: 'on-request' }, config }
  }
  const filesystem: Record<string, string> = { ':minimal': 'read', [workspace]: 'write' }
  // The sandbox starts codex itself as its helper, wherever that was installed.
  const program = pid === undefined ? null : await readlink(`/proc/${pid}/exe`).catch(() => null)
  if (program !== null) filesystem[program] = 'read'
  const profile = { filesystem, network: { enabled: network } }
  // What is asked for here is to step out, which nobody is meant to.
  return { sandbox: { permissions: PROFILE, approvalPolicy: 'never' }, config: { permissions: { [PROFILE]: profile } } }
}

const legacy: Readonly<Record<string, string>> = {
  'workspace-write': 'workspaceWrite',
  'read-only': 'readOnly',
  'danger-full-access': 'dangerFullAccess',
}

/** What is in force otherwise than asked, by the words of the settings; empty: everything is as it was asked. */
export function differences(response: Fields, deps: CodexDeps): readonly string[] {
  const asked: readonly (readonly [string, string | null, string])[] = [
    ['model', text(response['model']), deps.model || DEFAULT_MODEL],
    ['effort', text(response['reasoningEffort']), deps.effort || DEFAULT_EFFORT],
    deps.sandbox === 'workspace-only'
      ? ['sandbox', text(fields(response['activePermissionProfile'])['id']), PROFILE]
      : ['sandbox', text(fields(response['sandbox'])['type']), legacy[deps.sandbox] ?? ''],
  ]
  return asked.filter(([, real, wanted]) => real !== wanted).map(([name]) => name)
}
