import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isManaged, managedAgentsMd } from '../../src/artifacts/agents-md.js'
import { createArtifactBytes } from '../../src/artifacts/bytes.js'
import { numbered, safeFileName } from '../../src/artifacts/file-name.js'
import { createWorkspaces } from '../../src/artifacts/workspaces.js'
import type { OutgoingFile } from '../../src/collab/channel.js'
import type { ArtifactBytes, Workspaces } from '../../src/collab/ports.js'
import type { LaneId } from '../../src/collab/refs.js'
import { sha256 } from '../../src/lib/digest.js'
import { temporaryFolder } from '../kit/runtime-bench.js'

const lane = 'lane-a' as LaneId

describe('workspaces', () => {
  let base: string
  let root: string
  let remove: () => Promise<void>
  let artifacts: ArtifactBytes
  let workspaces: Workspaces
  beforeEach(async () => {
    const folder = await temporaryFolder()
    base = folder.path
    root = join(base, 'workspaces')
    remove = folder.remove
    artifacts = createArtifactBytes({ root: join(base, 'artifacts'), newId: () => randomUUID() })
    workspaces = createWorkspaces({ root, artifacts })
  })
  afterEach(() => remove())

  const stored = async (content: string, fileName: string): Promise<OutgoingFile> => {
    async function* once(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(content)
    }
    const put = await artifacts.put(once(), 1e6)
    if (!put.stored) throw new Error(put.because)
    return { digest: put.digest, fileName, mediaType: put.mediaType, size: put.size }
  }

  test('are private folders with a managed AGENTS.md', async () => {
    const folder = await workspaces.ensure(lane)
    expect(folder).toBe(join(root, 'lane-a'))
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect(await readFile(join(folder, 'AGENTS.md'), 'utf8')).toBe(managedAgentsMd())
    expect(await workspaces.ensure(lane)).toBe(folder)
  })

  test('of different lanes never share a folder, whatever the ids look like', async () => {
    const ids = ['lane-a', '../lane-a', 'a/b', 'a:b', '', '.', 'x'.repeat(300)] as LaneId[]
    const folders = await Promise.all(ids.map((id) => workspaces.ensure(id)))
    expect(new Set(folders).size).toBe(ids.length)
    for (const folder of folders) expect(join(folder, '..')).toBe(root)
  })

  test('keep instructions that the owner wrote', async () => {
    const path = join(await workspaces.ensure(lane), 'AGENTS.md')
    await writeFile(path, '# My own rules\n')
    await workspaces.ensure(lane)
    expect(await readFile(path, 'utf8')).toBe('# My own rules\n')
  })

  test('keep managed instructions that the owner changed', async () => {
    const path = join(await workspaces.ensure(lane), 'AGENTS.md')
    const changed = `${managedAgentsMd()}\nAlways answer in French.\n`
    await writeFile(path, changed)
    await workspaces.ensure(lane)
    expect(await readFile(path, 'utf8')).toBe(changed)
  })

  test('replace managed instructions of an older version', async () => {
    const path = join(await workspaces.ensure(lane), 'AGENTS.md')
    const body = '# You are the manager of an older day\n'
    await writeFile(path, `<!-- managed by lark-manager v0 sha256:${sha256(body)} -->\n${body}`)
    await workspaces.ensure(lane)
    expect(await readFile(path, 'utf8')).toBe(managedAgentsMd())
  })

  test('never write through a link that stands for AGENTS.md', async () => {
    const folder = await workspaces.ensure(lane)
    const outside = join(base, 'outside.md')
    await writeFile(outside, managedAgentsMd())
    await rm(join(folder, 'AGENTS.md'))
    await symlink(outside, join(folder, 'AGENTS.md'))
    await writeFile(outside, 'untouched')
    await workspaces.ensure(lane)
    expect(await readFile(outside, 'utf8')).toBe('untouched')
  })

  test('get a copy of a file under its own name', async () => {
    const path = await workspaces.place(lane, await stored('a,b', '季度报告 Q3.csv'))
    expect(path).toBe(join(root, 'lane-a', 'inbox', '季度报告 Q3.csv'))
    expect(await readFile(path, 'utf8')).toBe('a,b')
  })

  test('get other bytes of the same name beside it, and the same bytes once', async () => {
    const one = await stored('one', 'a.txt')
    const two = await stored('two', 'a.txt')
    expect(await workspaces.place(lane, one)).toMatch(/inbox\/a\.txt$/u)
    expect(await workspaces.place(lane, two)).toMatch(/inbox\/a \(2\)\.txt$/u)
    expect(await workspaces.place(lane, one)).toMatch(/inbox\/a\.txt$/u)
    expect(await workspaces.place(lane, two)).toMatch(/inbox\/a \(2\)\.txt$/u)
    expect(await readdir(join(root, 'lane-a', 'inbox'))).toHaveLength(2)
  })

  test('a change of the copy does not change the artifact', async () => {
    const file = await stored('original', 'a.txt')
    await writeFile(await workspaces.place(lane, file), 'changed')
    expect(await readFile(artifacts.pathOf(file.digest), 'utf8')).toBe('original')
    expect(await readFile(await workspaces.place(lane, file), 'utf8')).toBe('original')
  })

  test('never place a file through a link that stands for the inbox or the file', async () => {
    const folder = await workspaces.ensure(lane)
    await mkdir(join(base, 'elsewhere'))
    await symlink(join(base, 'elsewhere'), join(folder, 'inbox'))
    const file = await stored('secret', 'a.txt')
    const path = await workspaces.place(lane, file)
    expect(await readdir(join(base, 'elsewhere'))).toEqual([])
    expect((await lstat(join(path, '..'))).isDirectory()).toBe(true)

    await symlink(join(base, 'elsewhere', 'b.txt'), join(folder, 'inbox', 'b.txt'))
    expect(await workspaces.place(lane, { ...file, fileName: 'b.txt' })).toMatch(/b \(2\)\.txt$/u)
    expect(await readdir(join(base, 'elsewhere'))).toEqual([])
  })

  test('never place a file through a link that an agent puts there meanwhile', async () => {
    const inbox = join(await workspaces.ensure(lane), 'inbox')
    const elsewhere = join(base, 'elsewhere')
    mkdirSync(elsewhere)
    const file = await stored('key of a stranger', 'authorized_keys')
    // The last thing that is asked before the bytes are copied.
    const swapping: ArtifactBytes = {
      ...artifacts,
      pathOf: (digest) => {
        renameSync(inbox, join(base, 'aside'))
        symlinkSync(elsewhere, inbox)
        return artifacts.pathOf(digest)
      },
    }
    await createWorkspaces({ root, artifacts: swapping }).place(lane, file)
    expect(await readdir(elsewhere)).toEqual([])
    expect(await readdir(join(base, 'aside'))).toEqual(['authorized_keys'])
  })

  test.each([
    '../../escape.txt',
    'a/b\\c.txt',
    '/etc/passwd',
    'x\u0000\u202ey.txt',
    '..',
    '.',
    '',
    '.hidden',
    'a\nb.txt',
  ])('place %j inside the inbox', async (name) => {
    const path = await workspaces.place(lane, await stored('x', name))
    expect(join(path, '..')).toBe(join(root, 'lane-a', 'inbox'))
    expect(path).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

describe('a safe file name', () => {
  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\x\\报告.pdf', '报告.pdf'],
    ['...', 'file'],
    ['.env', 'env'],
    ['a  b\t.txt', 'a b.txt'],
    ['photo\u202egnp.exe', 'photognp.exe'],
    ['e\u0301.txt', '\u00e9.txt'],
  ])('%j is %j', (name, safe) => {
    expect(safeFileName(name)).toBe(safe)
  })

  test('is short enough for a file system and keeps its extension', () => {
    const name = safeFileName(`${'长'.repeat(300)}.pdf`)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200)
    expect(name.endsWith('长.pdf')).toBe(true)
  })

  test('is counted before its extension', () => {
    expect([numbered('a.tar', 1), numbered('a.tar', 2), numbered('Makefile', 3)]).toEqual([
      'a.tar',
      'a (2).tar',
      'Makefile (3)',
    ])
  })
})

describe('AGENTS.md', () => {
  test('begins with its marker, is managed by its own digest, and is under 4 KB', () => {
    const content = managedAgentsMd()
    expect(content).toMatch(/^<!-- managed by lark-manager v\d+ sha256:[0-9a-f]{64} -->\n/u)
    expect(isManaged(content)).toBe(true)
    expect(isManaged(content.replace('manager', 'Manager'))).toBe(false)
    expect(isManaged('')).toBe(false)
    expect(Buffer.byteLength(content)).toBeLessThan(4096)
  })

  test.each([
    /short, reversible work yourself/u,
    /Delegate work that is long/u,
    /does not move the work/u,
    /worktree/u,
    /Name the work that each decision holds up/u,
    /order and give the reason/u,
    /declared and what you verified/u,
    /only through the tools/u,
    /language that the owner wrote in/u,
    /Conclusion first/u,
    /grants nothing/u,
  ])('says %s', (rule) => {
    expect(managedAgentsMd()).toMatch(rule)
  })
})
