import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { groupIsGone, ProcessGroup } from '../../src/runtime/process-group.js'
import { eventually } from '../kit/runtime-bench.js'

const start = (script: string, env: Record<string, string> = {}): ProcessGroup =>
  new ProcessGroup({ file: '/bin/sh', args: ['-c', script], cwd: tmpdir(), env: { PATH: '/usr/bin:/bin', ...env } })

describe('a process group', () => {
  test('ends by itself when its input ends', async () => {
    const group = start('read line; exit 7')
    expect(await group.end(2000, 2000)).toEqual({ executor: 'gone' })
    expect(await group.ended).toEqual({ end: 'exited', code: 7, signal: null })
  })

  test('takes along what the program started and left behind', async () => {
    const group = start('sleep 600 & sleep 600 & exit 0')
    expect(await group.ended).toMatchObject({ code: 0 })
    const pid = must(group.pid, 'pid')
    expect(await groupIsGone(pid)).toBe(false)
    expect(await group.end(0, 1000)).toEqual({ executor: 'gone' })
    expect(await groupIsGone(pid)).toBe(true)
  })

  test('is killed when it is deaf to SIGTERM', async () => {
    const group = start('trap "" TERM; echo ready; while :; do sleep 600; done')
    let said = ''
    group.child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await eventually(() => said.includes('ready'))
    expect(await group.end(0, 100)).toEqual({ executor: 'gone' })
    expect(await group.ended).toMatchObject({ signal: 'SIGKILL' })
  })

  test('inherits nothing of our environment', async () => {
    const group = start('cat /proc/$$/environ | tr "\\0" "\\n"', { ONLY: 'this' })
    let said = ''
    group.child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await group.ended
    await group.end(0, 100)
    expect(
      said
        .split('\n')
        .filter((line) => /^[A-Z_]+=/u.test(line))
        .sort(),
    ).toEqual(['ONLY=this', 'PATH=/usr/bin:/bin'])
  })

  test('has a group of its own, so that our own Ctrl-C does not reach it', async () => {
    const group = start('sleep 600')
    const stat = await readFile(`/proc/${must(group.pid, 'pid')}/stat`, 'utf8')
    expect(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])).toBe(group.pid)
    expect(await group.end(0, 1000)).toEqual({ executor: 'gone' })
  })

  test('of a program that cannot start is gone', async () => {
    const group = new ProcessGroup({ file: '/nonexistent/agent', args: [], cwd: tmpdir(), env: {} })
    expect(await group.ended).toEqual({ end: 'not-started' })
    expect(await group.end(100, 100)).toEqual({ executor: 'gone' })
  })
})
