import { readFile } from 'node:fs/promises'
import type { AgentRuntime } from '../../collab/ports.js'
import { isExecutable } from '../acp/command-line.js'
import type { RuntimeBinding, RuntimeCheck } from '../hosted.js'
import { confinementCheck, readiness } from '../confine/confiner.js'
import { environmentOf, isCredential, signInOf } from './environment.js'
import { isObject } from './messages.js'
import type { ClaudeDeps } from './options.js'
import { type ClaudeSdk, loadSdk, type LoadedSdk, PACKAGE, TESTED } from './sdk.js'

/** Whether Claude Code can be used, and what each part of the answer rests on. */
export interface Standing {
  sdk(): Promise<{ readonly sdk: ClaudeSdk } | Lacking>
  available: AgentRuntime['available']
  /** Why a restricted session cannot be had here; null: it can. */
  unconfined(): Promise<Lacking | null>
  checks(): Promise<readonly RuntimeCheck[]>
  binding(): Promise<RuntimeBinding>
}

interface Lacking {
  readonly detail: string
  readonly mend: string
}

const SIGN_IN =
  'sign in with `claude` as the user of the gateway, or set CLAUDE_KEY_ENV to the name of the variable with a key (docs/runtimes.md)'

const SIGN_IN_SHOWN: Lacking = {
  detail: 'the sign-in of Claude Code would be readable in a restricted session',
  mend: 'set CLAUDE_KEY_ENV to ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN: these it is given unseen',
}

export function createStanding(deps: ClaudeDeps): Standing {
  let loading: Promise<LoadedSdk> | null = null

  const sdk: Standing['sdk'] = async () => {
    if (deps.bin !== '' && !isExecutable(deps.bin)) {
      return { detail: 'CLAUDE_BIN cannot be run', mend: 'set it to the full path of `claude`, or unset it' }
    }
    loading ??= loadSdk(deps.sdk)
    const loaded = await loading
    if (loaded.loaded) return loaded
    // Whoever installs it need not start the gateway again.
    loading = null
    return loaded
  }

  const unconfined: Standing['unconfined'] = async () => {
    // A sign-in in a file or in the environment is one that its commands can read, for whoever asks them to.
    if (environmentOf(deps, '', deps.homes).secret === null) return SIGN_IN_SHOWN
    const found = await readiness(deps.confiner)
    return found.ready ? null : found
  }
  const restrictedCheck = async (): Promise<RuntimeCheck> => {
    const name = 'claude restricted sessions'
    const lacking = await unconfined()
    if (lacking === null) return await confinementCheck(name, deps.confiner)
    return { name, state: 'warning', detail: `refused: ${lacking.detail}`, mend: lacking.mend }
  }

  return {
    sdk,
    unconfined,
    async available() {
      const found = await sdk()
      if ('detail' in found) return { available: false, detail: `${found.detail}; ${found.mend}` }
      if ((await signInOf(deps)) === 'none') {
        return { available: false, detail: `Claude Code is not signed in; ${SIGN_IN}` }
      }
      return { available: true }
    },
    async binding() {
      const signIn = await signInOf(deps)
      return {
        executorKind: signIn === 'key' ? 'managed' : signIn === 'signed-in' ? 'individual' : null,
        model: deps.model || null,
        effort: deps.effort || null,
        credential: signIn === 'key' ? (Object.keys(deps.credential).find(isCredential) ?? null) : null,
      }
    },
    async checks() {
      const found = await sdk()
      if ('detail' in found) return [{ name: 'claude', state: 'failed', ...found }]
      const version = await versionOf(deps.sdk)
      const signIn = await signInOf(deps)
      return [
        {
          name: 'claude',
          state: 'ok',
          detail: deps.bin === '' ? 'found: beside this program' : 'found: CLAUDE_BIN',
          mend: null,
        },
        {
          name: 'claude version',
          state: version === TESTED ? 'ok' : 'warning',
          detail: `agent SDK ${version ?? 'of an unknown version'} (tested: ${TESTED})`,
          mend: version === TESTED ? null : `install the tested version: npm install --no-save ${PACKAGE}@${TESTED}`,
        },
        await restrictedCheck(),
        signIn === 'none'
          ? { name: 'claude sign-in', state: 'failed', detail: 'no sign-in was found', mend: SIGN_IN }
          : { name: 'claude sign-in', state: 'ok', detail: signInWords[signIn], mend: null },
      ]
    },
  }
}

const signInWords = {
  key: 'a key is handed on (not tried)',
  'signed-in': 'a sign-in is there (not tried)',
  unseen: 'on this system it cannot be seen whether there is one',
} as const

/** What the package beside the entry says of itself. */
async function versionOf(from: string): Promise<string | null> {
  try {
    const entry = from.startsWith('file:') ? from : import.meta.resolve(from)
    const manifest: unknown = JSON.parse(await readFile(new URL('package.json', entry), 'utf8'))
    return isObject(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : null
  } catch {
    return null
  }
}
