import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SessionProfile } from '../../collab/audience.js'
import type { AgentRuntime } from '../../collab/ports.js'
import type { RuntimeBinding, RuntimeCheck } from '../hosted.js'
import { canConfine, findCodex, isTested, TESTED, versionOf } from './binary.js'
import { ensureHome, homeOf, signInOf } from './home.js'
import { DEFAULT_EFFORT, DEFAULT_MODEL, type CodexDeps } from './options.js'
import type { Program } from './lane.js'
import { mustConfine } from './profile.js'
import type { NotConfined, Trouble } from '../trouble.js'

/** Whether codex can be used, and what each part of the answer rests on. */
export interface Standing {
  program(): Promise<(Program & { readonly from: string }) | Lacking>
  available: AgentRuntime['available']
  /** What a session of this profile lacks here; null: nothing. */
  lacking(file: string, profile: SessionProfile): Promise<Trouble | NotConfined | null>
  checks(): Promise<readonly RuntimeCheck[]>
  binding(): Promise<RuntimeBinding>
}

interface Lacking {
  readonly detail: string
  readonly mend: string
}

const SIGN_IN =
  'run `codex login` as the user of the gateway, or put a model provider into config.toml of the private home (docs/runtimes.md)'

const RESTRICTED_SIGN_IN =
  'run `codex login` as the user of the gateway, or put the model provider into codex/restricted/config.toml of DATA_DIR, too'

const NOT_CONFINED = 'codex cannot confine commands on this machine'
const ALLOW = 'install bubblewrap and allow unprivileged user namespaces'
const CONFINE = `${ALLOW}, or choose another CODEX_SANDBOX`

export function createStanding(deps: CodexDeps): Standing {
  // A binary is asked for its version once: that takes a third of a second, and a turn asks each time.
  const versions = new Map<string, Promise<string | null>>()
  const confining = new Map<string, Promise<boolean>>()
  let warned = false

  const program: Standing['program'] = async () => {
    const found = findCodex(deps.bin, deps.env['PATH'], dirname(fileURLToPath(import.meta.url)))
    if (!found.found) return found
    // Even for this codex writes into its home: it shall be ours and not the owner's.
    const asked = versions.get(found.file) ?? versionOf(found.file, { ...deps.env, CODEX_HOME: homeOf(deps, 'owner') })
    versions.set(found.file, asked)
    const version = await asked
    if (version === null) {
      versions.delete(found.file)
      return { detail: 'the codex binary does not say its version', mend: 'set CODEX_BIN to a codex that runs here' }
    }
    if (!isTested(version) && !warned) {
      warned = true
      deps.logger.warn('codex is of a version that was not tested', { reason: version })
    }
    return { file: found.file, from: found.from, version }
  }

  const confines = (file: string): Promise<boolean> => {
    const asked =
      confining.get(file) ??
      ensureHome(deps, 'owner').then((home) => canConfine(file, { ...deps.env, CODEX_HOME: home }))
    confining.set(file, asked)
    return asked
  }
  const sandboxCheck = async (file: string): Promise<RuntimeCheck> => {
    const name = 'codex sandbox'
    if (deps.sandbox === 'danger-full-access') return { name, state: 'ok', detail: 'off (CODEX_SANDBOX)', mend: null }
    if (await confines(file)) return { name, state: 'ok', detail: `${deps.sandbox} works here`, mend: null }
    return { name, state: 'failed', detail: NOT_CONFINED, mend: CONFINE }
  }

  const restrictedCheck = async (file: string): Promise<RuntimeCheck> => {
    const name = 'codex restricted sessions'
    if (!(await confines(file))) return { name, state: 'warning', detail: `${NOT_CONFINED}: refused`, mend: ALLOW }
    if ((await signInOf(deps, 'restricted')) === 'none') {
      return { name, state: 'warning', detail: 'no sign-in for them: refused', mend: RESTRICTED_SIGN_IN }
    }
    const detail = 'confined to their workspace, commands without network'
    return { name, state: 'ok', detail, mend: null }
  }

  return {
    program,
    async lacking(file, profile) {
      if (mustConfine(profile, deps) && !(await confines(file))) return { notConfined: `${NOT_CONFINED}; ${ALLOW}` }
      if (profile.kind !== 'restricted' || (await signInOf(deps, 'restricted')) !== 'none') return null
      return { because: 'unavailable', detail: `codex has no sign-in for restricted sessions; ${RESTRICTED_SIGN_IN}` }
    },
    async available() {
      const found = await program()
      if ('detail' in found) return { available: false, detail: `${found.detail}; ${found.mend}` }
      if (deps.sandbox === 'workspace-only' && !(await confines(found.file))) {
        return { available: false, detail: `${NOT_CONFINED}; ${CONFINE}` }
      }
      if ((await signInOf(deps, 'owner')) === 'none')
        return { available: false, detail: `codex is not signed in; ${SIGN_IN}` }
      return { available: true }
    },
    async binding() {
      const signIn = await signInOf(deps, 'owner')
      return {
        executorKind: signIn === 'none' ? null : signIn === 'signed-in' ? 'individual' : 'managed',
        model: deps.model || DEFAULT_MODEL,
        effort: deps.effort || DEFAULT_EFFORT,
        // Named only where it is what signs in.
        credential: signIn === 'own-provider' ? (Object.keys(deps.credential)[0] ?? null) : null,
      }
    },
    async checks() {
      const found = await program()
      if ('detail' in found) return [{ name: 'codex', state: 'failed', ...found }]
      const range = `${TESTED.from} to ${TESTED.to}`
      const tested = isTested(found.version)
      const signIn = await signInOf(deps, 'owner')
      return [
        { name: 'codex', state: 'ok', detail: `found: ${found.from}`, mend: null },
        {
          name: 'codex version',
          state: tested ? 'ok' : 'warning',
          detail: `${found.version} (tested: ${range})`,
          mend: tested ? null : `install a tested version: npm install -g @openai/codex@${TESTED.to}`,
        },
        await sandboxCheck(found.file),
        await restrictedCheck(found.file),
        signIn === 'none'
          ? { name: 'codex sign-in', state: 'failed', detail: 'no sign-in was found', mend: SIGN_IN }
          : { name: 'codex sign-in', state: 'ok', detail: signInWords[signIn], mend: null },
      ]
    },
  }
}

const signInWords = {
  'signed-in': 'a sign-in is there (not tried)',
  'own-provider': 'a model provider stands in config.toml of the private home',
} as const
