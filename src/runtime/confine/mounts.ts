import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { GrantedPath } from '../../collab/audience.js'
import { realOf, systemFolders } from './installation.js'

/** One thing that is there in the namespace; everything that is not listed is not. */
export type Mount =
  | { readonly kind: 'read' | 'write'; readonly from: string; readonly at: string }
  | { readonly kind: 'link'; readonly to: string; readonly at: string }
  | { readonly kind: 'empty'; readonly at: string }

/** Of the system's settings: what names users, addresses and certificates, and how libraries are found. */
const settingsFiles = [
  'alternatives',
  'ca-certificates',
  'gai.conf',
  'group',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'passwd',
  'pki/ca-trust/extracted',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'protocols',
  'resolv.conf',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'timezone',
] as const

/** What every program of the system needs. */
export function systemMounts(): readonly Mount[] {
  const folders = systemFolders.flatMap((at): Mount[] => {
    const stat = statOf(at)
    if (stat === null) return []
    return stat.isSymbolicLink() ? [{ kind: 'link', to: readlinkSync(at), at }] : [read(at)]
  })
  const settings = settingsFiles.flatMap((name): Mount[] => {
    const at = join('/etc', name)
    // Where it is a link, what it leads to stands in its place.
    return statOf(at) === null || realOf(at) === null ? [] : [read(at)]
  })
  return [...folders, ...settings, { kind: 'empty', at: '/tmp' }, { kind: 'empty', at: '/var/tmp' }]
}

export const read = (at: string): Mount => ({ kind: 'read', from: at, at })
export const write = (at: string): Mount => ({ kind: 'write', from: at, at })

/**
 * What the owner granted, as far as it is there under its own name: a path with a link in it could lead elsewhere by now.
 * The whole host, its processes and its devices are no path that can be granted.
 */
export function grantedMounts(paths: readonly GrantedPath[]): readonly Mount[] {
  return paths
    .filter(({ path }) => realOf(path) === path && path !== '/' && !/^\/(?:proc|sys|dev)(?:\/|$)/u.test(path))
    .map(({ path, access }) => (access === 'write' ? write(path) : read(path)))
}

/**
 * In the order in which they are to be made: what is deeper stands in what is higher, and of two at one place the last
 * one counts. A folder that is kept away hides what a higher mount would show of it.
 *
 * @param away absolute paths
 */
export function inOrder(mounts: readonly Mount[], away: readonly string[]): readonly Mount[] {
  const shown = (path: string): boolean => mounts.some((mount) => mount.kind !== 'empty' && isAbove(mount.at, path))
  const hidden = away.filter(shown).map((at): Mount => ({ kind: 'empty', at }))
  const all = [...mounts.filter(({ at }) => !away.includes(at)), ...hidden]
  const last = new Map(all.map((mount) => [mount.at, mount]))
  return [...last.values()].toSorted((a, b) => depthOf(a.at) - depthOf(b.at) || (a.at < b.at ? -1 : 1))
}

export function isAbove(folder: string, path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (at === folder) return true
    if (dirname(at) === at) return false
  }
}

const depthOf = (path: string): number => path.split(sep).filter(Boolean).length

function statOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}
