import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { QuiesceProof, TurnEvent, Verdict } from '../../src/collab/ports.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { collect, inputOf, never, opened, temporaryFolder } from '../kit/runtime-bench.js'

/**
 * What every runtime promises (RFC §5.1, §5.7.3). Each one follows the same directives in the message.
 *
 * @param declaredOut failures that nobody can provoke in the program behind this runtime; its own tests name why
 */
export function runtimeContract(
  name: string,
  open: () => HostedRuntime,
  declaredOut: readonly ('exit' | 'silent' | 'garbage' | 'too-large' | 'unavailable')[] = [],
): void {
  describe(`runtime contract — ${name}`, () => {
    let runtime: HostedRuntime
    let workspace: Awaited<ReturnType<typeof temporaryFolder>>

    beforeEach(async () => {
      runtime = open()
      workspace = await temporaryFolder()
    })
    afterEach(async () => {
      const proof = await runtime.end()
      await workspace.remove()
      expect(proof).toEqual({ executor: 'gone' } satisfies QuiesceProof)
    })

    const run = async (message: string, onEvent?: (event: TurnEvent) => void | Promise<void>) => {
      const session = await opened(runtime, workspace.path)
      return collect(session.turn(inputOf(message), never), onEvent)
    }

    test('says that it can take a turn', async () => {
      expect(await runtime.available()).toEqual({ available: true })
    })

    test('a turn starts once and ends with exactly one `ended`, last', async () => {
      const { events } = await run('!think\n!reply the answer')
      expect(events.filter(({ kind }) => kind === 'started')).toHaveLength(1)
      expect(events.filter(({ kind }) => kind === 'ended')).toHaveLength(1)
      expect(events.at(-1)).toEqual({ kind: 'ended', ended: 'completed', final: 'the answer', conclusion: null })
    })

    test('what stands outside the message has no effect', async () => {
      expect((await run('!reply fine')).ended).toMatchObject({ ended: 'completed', final: 'fine' })
    })

    test('stop ends a waiting turn as interrupted', async () => {
      const session = await opened(runtime, workspace.path)
      const input = inputOf('!think\n!delay 60s\n!reply too late')
      let stopped: Promise<string> | undefined
      const { ended } = await collect(session.turn(input, never), (event) => {
        if (event.kind === 'activity') stopped ??= session.stop(input.turn)
      })
      expect(ended.ended).toBe('interrupted')
      expect(await stopped).toBe('stopped')
      expect(await session.stop(input.turn)).toBe('already-ended')
    })

    test('an aborted signal ends a waiting turn as interrupted', async () => {
      const session = await opened(runtime, workspace.path)
      const abort = new AbortController()
      const { ended } = await collect(session.turn(inputOf('!think\n!delay 60s'), abort.signal), (event) => {
        if (event.kind === 'activity') abort.abort()
      })
      expect(ended.ended).toBe('interrupted')
    })

    test('a signal that is aborted already starts nothing', async () => {
      const session = await opened(runtime, workspace.path)
      const { ended } = await collect(session.turn(inputOf('!reply no'), AbortSignal.abort()))
      expect(ended.ended).toBe('interrupted')
    })

    test('the next turn can start as soon as the last one has ended', async () => {
      const session = await opened(runtime, workspace.path)
      for (const text of ['one', 'two', 'three']) {
        const { ended } = await collect(session.turn(inputOf(`!reply ${text}`), never))
        expect(ended).toMatchObject({ ended: 'completed', final: text })
      }
    })

    test('a session goes on after a turn that was stopped', async () => {
      const session = await opened(runtime, workspace.path)
      const input = inputOf('!think\n!delay 60s')
      await collect(session.turn(input, never), (event) => {
        if (event.kind === 'activity') void session.stop(input.turn)
      })
      const { ended } = await collect(session.turn(inputOf('!reply back'), never))
      expect(ended).toMatchObject({ ended: 'completed', final: 'back' })
    })

    test.each([
      ['reject-once', 'Refused: rm -r build'],
      ['allow-once', 'Allowed: rm -r build'],
    ] satisfies [Verdict, string][])('an approval answered %s reaches the agent', async (verdict, said) => {
      const session = await opened(runtime, workspace.path)
      const { events, ended } = await collect(session.turn(inputOf('!ask rm -r build'), never), async (event) => {
        if (event.kind === 'approval') await session.answer(event.approval, verdict)
      })
      const asked = events.filter((event) => event.kind === 'approval')
      expect(asked).toHaveLength(1)
      expect(asked[0]?.operation).toContain('rm -r build')
      expect(ended).toMatchObject({ ended: 'completed', final: expect.stringContaining(said) })
    })

    test('a turn that waits for an approval can be stopped', async () => {
      const session = await opened(runtime, workspace.path)
      const input = inputOf('!ask rm -r build')
      const { ended } = await collect(session.turn(input, never), (event) => {
        if (event.kind === 'approval') void session.stop(input.turn)
      })
      expect(ended.ended).toBe('interrupted')
    })

    test('an answer to an approval that nobody waits for changes nothing', async () => {
      const session = await opened(runtime, workspace.path)
      await session.answer('of another process', 'allow-once')
      const { ended } = await collect(session.turn(inputOf('!reply calm'), never))
      expect(ended).toMatchObject({ ended: 'completed', final: 'calm' })
    })

    const failures = [
      ['exit', 'exited'],
      ['silent', 'no-output'],
      ['garbage', 'garbage'],
      ['too-large', 'too-large'],
      ['unavailable', 'unavailable'],
    ] as const
    test.each(failures.filter(([how]) => !declaredOut.includes(how)))(
      'a turn that fails by %s ends as failed: %s',
      async (how, because) => {
        const { events, ended } = await run(`!fail ${how}`)
        expect(ended).toMatchObject({ ended: 'failed', because })
        expect(events.filter(({ kind }) => kind === 'ended')).toHaveLength(1)
      },
    )

    test('a hanging turn ends when it is stopped, and nothing of it is left', async () => {
      const session = await opened(runtime, workspace.path)
      const input = inputOf('!think\n!fail hang')
      const { ended } = await collect(session.turn(input, never), (event) => {
        if (event.kind === 'activity') void session.stop(input.turn)
      })
      expect(ended.ended).toBe('interrupted')
      expect(await session.close()).toEqual({ executor: 'gone' })
    })

    test('a reader who goes away ends the turn', async () => {
      const session = await opened(runtime, workspace.path)
      for await (const event of session.turn(inputOf('!think\n!delay 60s'), never)) if (event.kind === 'activity') break
      expect(await session.close()).toEqual({ executor: 'gone' })
    })

    test('files arrive with their bytes before the turn ends', async () => {
      const { events } = await run('!attach notes.txt\n!reply see the file')
      const files = events.filter((event) => event.kind === 'file')
      expect(files.map(({ fileName }) => fileName)).toEqual(['notes.txt'])
      expect(files[0]?.mediaType).toBe('text/plain')
      expect(new TextDecoder().decode(files[0]?.bytes)).toContain('notes.txt')
    })

    test('reasoning shows as activity only', async () => {
      const { events } = await run('!think\n!reply done')
      expect(events).toContainEqual({ kind: 'activity', activity: 'thinking' })
      expect(JSON.stringify(events)).not.toContain('REASONING-CANARY')
    })

    test('a session is continued where it can be, and says so', async () => {
      const first = await opened(runtime, workspace.path)
      expect(first.opened).toBe('new')
      await collect(first.turn(inputOf('!turn'), never))
      await first.close()
      const again = await opened(runtime, workspace.path, first.ref)
      expect(again.opened).toBe('resumed')
      expect(again.ref).toEqual(first.ref)
      const { ended } = await collect(again.turn(inputOf('!turn'), never))
      expect(ended).toMatchObject({ final: 'This is turn 2 of this session.' })
    })

    test.each(['gone', '../../etc/passwd'])(
      'a session that is not there any more (%s) becomes a new one',
      async (id) => {
        const session = await opened(runtime, workspace.path, { runtime: runtime.name, id })
        expect(session.opened).toBe('new')
        expect(session.ref.id).not.toBe(id)
      },
    )

    test('a session of another runtime is not continued', async () => {
      const first = await opened(runtime, workspace.path)
      const session = await opened(runtime, workspace.path, { runtime: 'another', id: first.ref.id })
      expect(session.opened).toBe('new')
    })
  })
}
