import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { offeredFile } from '../../src/runtime/acp/offered-files.js'
import { userMessage } from '../../src/runtime/claude/input.js'
import type { TurnId } from '../../src/collab/refs.js'
import { liesIn, openAsItself, readOwn } from '../../src/runtime/own-file.js'
import { temporaryFolder } from '../kit/runtime-bench.js'

describe('a file of a workspace that an agent can put links into', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let workspace: string
  let outside: string
  beforeEach(async () => {
    folder = await temporaryFolder()
    workspace = join(folder.path, 'ws')
    outside = join(folder.path, 'ws-other')
    await mkdir(join(workspace, 'inbox'), { recursive: true })
    await mkdir(outside)
    await writeFile(join(workspace, 'inbox', 'a.png'), 'its own')
    await writeFile(join(outside, 'a.png'), 'of the owner')
  })
  afterEach(() => folder.remove())

  const path = () => join(workspace, 'inbox', 'a.png')

  test('is read as it is, up to a limit', async () => {
    expect((await readOwn(path(), workspace, 7))?.toString()).toBe('its own')
    expect(await readOwn(path(), workspace, 6)).toBeNull()
    expect(await readOwn(join(workspace, 'inbox'), workspace, 100)).toBeNull()
    expect(await readOwn(join(workspace, 'missing'), workspace, 100)).toBeNull()
  })

  test('is not read through a link in its place', async () => {
    await rename(path(), join(workspace, 'aside.png'))
    await symlink(join(outside, 'a.png'), path())
    expect(await readOwn(path(), workspace, 100)).toBeNull()
  })

  test('is not read through a link in the place of its folder', async () => {
    await rename(join(workspace, 'inbox'), join(workspace, 'aside'))
    await symlink(outside, join(workspace, 'inbox'))
    const file = await openAsItself(path())
    expect(await liesIn(file, path(), workspace)).toBe(false)
    await file.close()
    expect(await readOwn(path(), workspace, 100)).toBeNull()
  })

  test('is shown to Claude Code only while it is what was placed there', async () => {
    const input = {
      turn: 't' as TurnId,
      text: 'look',
      attachments: [{ path: path(), fileName: 'a.png', mediaType: 'image/png' }],
    }
    const kinds = async () => (await userMessage(input, 'm', 's', workspace)).message.content.map((block) => block.type)
    expect(await kinds()).toEqual(['image', 'text'])
    await rename(path(), join(workspace, 'aside.png'))
    await symlink(join(outside, 'a.png'), path())
    expect(await kinds()).toEqual(['text'])
  })

  test('is not given from elsewhere, however fast its folder becomes a link and back', async () => {
    const [inbox, aside, link] = [join(workspace, 'inbox'), join(workspace, 'aside'), join(workspace, 'link')]
    await symlink(outside, link)
    const stop = new Int32Array(new SharedArrayBuffer(4))
    const swapping = new Worker(
      `const { renameSync } = require('node:fs')
       const { stop, inbox, aside, link } = require('node:worker_threads').workerData
       while (Atomics.load(stop, 0) === 0) {
         renameSync(inbox, aside); renameSync(link, inbox); renameSync(inbox, link); renameSync(aside, inbox)
       }`,
      { eval: true, workerData: { stop, inbox, aside, link } },
    )
    const ended = new Promise<void>((resolve) => swapping.once('exit', () => resolve()))
    const seen = new Set<string>()
    let read = 0
    while (read < 500) {
      const file = await offeredFile({ type: 'resource_link', uri: pathToFileURL(path()).href, name: '' }, workspace)
      if (!file.offered) continue
      read += 1
      seen.add(Buffer.from(file.event.bytes).toString())
    }
    Atomics.store(stop, 0, 1)
    await ended
    expect([...seen]).toEqual(['its own'])
  })
})
