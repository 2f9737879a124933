import { execFile } from 'node:child_process'
import { delimiter, isAbsolute, join } from 'node:path'
import type { GrantedPath } from '../../collab/audience.js'
import { SECOND } from '../../lib/time.js'
import { isExecutable } from '../acp/command-line.js'
import type { RuntimeCheck } from '../hosted.js'
import { ensurePrivateHome, type PrivateHome } from './home.js'
import { installationOf, realOf } from './installation.js'
import { grantedMounts, inOrder, isAbove, read, systemMounts, write, type Mount } from './mounts.js'

export interface Program {
  readonly file: string
  readonly args: readonly string[]
}

/** What is there for one confined process. */
export interface Inside {
  readonly workspace: string
  readonly home: PrivateHome
  readonly paths: readonly GrantedPath[]
  /** Programs that it starts itself, beside those of the system. */
  readonly programs?: readonly Program[]
}

export type Ready = { readonly ready: true } | { readonly ready: false; readonly detail: string; readonly mend: string }

/**
 * Runs whole agent processes in mount and process namespaces of their own, in which nothing is there but an allowlist:
 * the system's programs and libraries, the program's own installation, a private home, the workspace, and what was
 * granted. It holds for whatever the process does, its own tools and its shell alike. The network is not cut: the
 * process needs its model.
 *
 * @source RFC §5.3 (a restricted context with enforceable limits) — bwrap(1)
 */
export interface Confiner {
  /** Whether this host can do it: found out once, by doing it. */
  ready(): Promise<Ready>
  /** The private home of one session of a runtime; made when it is missing. */
  homeOf(runtime: string, session: string): Promise<PrivateHome>
  /** The command line that starts a program confined. */
  wrap(program: Program, inside: Inside): Program
}

export interface ConfinerOptions {
  readonly searchPath: string | undefined
  /** Absolute; nothing of it is there but the workspace and the home of the session. */
  readonly dataDir: string
  /** The owner's; null: not known. */
  readonly home: string | null
}

const MISSING = {
  detail: 'bubblewrap is not installed',
  mend: 'install bubblewrap (Debian: apt-get install bubblewrap)',
}
const REFUSED = {
  detail: 'bubblewrap is not permitted here',
  mend: 'allow it user namespaces (docs/runtimes.md, "Confined by bubblewrap")',
}

export function createConfiner(options: ConfinerOptions): Confiner {
  const { searchPath, dataDir, home } = options
  // By its own name and by the one that leads to it.
  const away = [...new Set([dataDir, ...(home === null ? [] : [home])].flatMap((path) => [path, realOf(path) ?? path]))]
  const bwrap = (searchPath ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutable)
  let probing: Promise<Ready> | null = null

  const line = (file: string, args: readonly string[], mounts: readonly Mount[], folder: string): readonly string[] => [
    ...namespaces,
    ...inOrder(mounts, away).flatMap(wordsOf),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--chdir',
    folder,
    '--',
    file,
    ...args,
  ]
  const probe = async (): Promise<Ready> => {
    if (bwrap === undefined) return { ready: false, ...MISSING }
    const args = line('/bin/sh', ['-c', 'exit 0'], systemMounts(), '/')
    const works = await new Promise<boolean>((done) => {
      execFile(bwrap, args, { env: {}, timeout: 20 * SECOND }, (error) => done(error === null))
    })
    return works ? { ready: true } : { ready: false, ...REFUSED }
  }

  return {
    async ready() {
      probing ??= probe()
      const found = await probing
      // Whoever mends it need not start the gateway again.
      if (!found.ready) probing = null
      return found
    },
    homeOf: (runtime, session) => ensurePrivateHome(join(dataDir, runtime), session),
    wrap({ file, args }, { workspace, home: own, paths, programs = [] }) {
      const needed = [{ file, args }, ...programs].map((one) => installationOf(one.file, one.args, searchPath, away))
      const mounts = [
        ...systemMounts(),
        ...grantedMounts(paths.filter(({ path }) => !isAbove(dataDir, path))),
        ...needed.flatMap((one) => one.paths.map(read)),
        write(workspace),
        write(own.path),
        ...own.shared,
      ]
      const there = (path: string): boolean => mounts.some((mount) => mount.kind !== 'empty' && isAbove(mount.at, path))
      const links = needed.flatMap((one) => [...one.links].map(([at, to]): Mount => ({ kind: 'link', to, at })))
      const all = [...mounts, ...links.filter(({ at }) => !there(at))]
      return { file: bwrap ?? 'bwrap', args: line(needed[0]?.file ?? file, args, all, workspace) }
    },
  }
}

/** The row of `doctor` about sessions that others than the owner may start. */
export async function confinementCheck(name: string, confiner: Confiner | null): Promise<RuntimeCheck> {
  const found = await readiness(confiner)
  if (!found.ready) return { name, state: 'warning', detail: `refused: ${found.detail}`, mend: found.mend }
  const detail = 'confined by bubblewrap to their workspace and a home of their own; the network is not cut'
  return { name, state: 'ok', detail, mend: null }
}

export async function readiness(confiner: Confiner | null): Promise<Ready> {
  return confiner === null ? { ready: false, ...MISSING } : await confiner.ready()
}

/** Whoever ends the group ends all of it with the namespace, also what has left the group. */
const namespaces =
  '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent --cap-drop ALL'.split(
    ' ',
  )

function wordsOf(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case 'read':
      return ['--ro-bind', mount.from, mount.at]
    case 'write':
      return ['--bind', mount.from, mount.at]
    case 'link':
      return ['--symlink', mount.to, mount.at]
    case 'empty':
      return ['--tmpfs', mount.at]
  }
}

/** The environment of a confined process: nothing that leads to the owner's own home, keys or sockets. */
export function confinedEnv(env: Readonly<Record<string, string>>, home: string): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(([name]) => passedOn.has(name))
  return { ...Object.fromEntries(kept), HOME: home }
}

const passedOn = new Set('PATH USER LOGNAME SHELL LANG LC_ALL TZ TERM HTTPS_PROXY HTTP_PROXY NO_PROXY'.split(' '))
