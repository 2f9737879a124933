import { HOUR, MINUTE } from '../../src/lib/time.js'
import { seedIds } from '../../src/sandbox/seed.js'
import type { Db } from '../../src/stores/db.js'
import { expectSound } from './oracle.js'
import type { Schedule, Step, Who } from './schedule.js'
import type { Office } from './office.js'
import { World } from './world.js'

/** Plays a schedule, lets everything come to rest, checks it, lets an operator settle what is parked, checks again. */
export async function play(db: Db, schedule: Schedule, check?: (world: World) => Promise<void>): Promise<void> {
  const world = new World(db, schedule)
  try {
    await world.commit('A')
    for (const step of schedule.steps) await take(world, step)
    await calm(world)
    await expectSound(world)
    await check?.(world)
    await settle(world)
    await expectSound(world)
  } finally {
    await world.clear()
  }
}

async function take(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case 'commit':
      return await world.commit('A')
    case 'run':
      return await run(world, step)
    case 'kill':
      return world.office(step.who).bury()
    case 'stop':
      return world.office(step.who).stop()
    case 'start':
      return await start(world, step.who, step.recover)
    case 'sweep':
      world.deaf = false
      return void (await world.office(step.who).sweep())
    case 'wait':
      await world.time.advance(step.ms, step.asleep)
      return void (world.offline = false)
    case 'queue-lost':
      return world.desk.lose()
    case 'kicks-lost':
      return void (world.deaf = true)
    case 'replay':
      return world.desk.replay(step.nth)
    case 'operator':
      return void (await world.decide(step.nth, step.decision))
    case 'token':
      return world.sandbox.faults.expireToken()
    case 'offline':
      return void (world.offline = true)
    case 'world':
      return people(world, step)
  }
}

async function run(world: World, { who, gates, patient, cut }: Extract<Step, { do: 'run' }>): Promise<void> {
  if (world.office(who).process.dead) await start(world, who, patient)
  const office = world.office(who)
  if (patient) await untilDue(world, office)
  await office.run(gates)
  if (cut !== null && !office.process.dead) {
    office.process.cutNext(cut)
    await office.run(1)
  }
  if (office.process.dead) office.bury()
}

/** Where nobody has anything to do, the next thing that happens by itself: a job that is due, or a sweep. */
async function untilDue(world: World, office: Office): Promise<void> {
  if ([...world.offices.values()].some((one) => !one.process.dead && !one.process.idle)) return
  const wait = (world.desk.nextAt() ?? Infinity) - world.time.now()
  await world.time.advance(Math.max(0, Math.min(wait, world.sweepGraceMs)), false)
  if (wait > world.sweepGraceMs && (await office.sweep()) === 0 && wait <= 3 * MINUTE) {
    await world.time.advance(wait - world.sweepGraceMs, false)
  }
}

async function start(world: World, who: Who, recover: boolean): Promise<void> {
  const old = world.office(who)
  if (!old.process.dead && !old.stopped) return
  old.bury()
  const office = world.start(who)
  if (recover) await office.recover()
}

function people(world: World, { nth, what }: Extract<Step, { do: 'world' }>): void {
  const { world: people, faults } = world.sandbox
  const asked = world.asked[nth % world.asked.length]
  if (asked === undefined) return
  const { chatId } = asked.route
  switch (what) {
    case 'say-same':
      people.say({ chatId, from: seedIds.alice, text: 'the same words', replyTo: asked.trigger.id, silent: true })
      return
    case 'recall-trigger':
      return people.recall(asked.trigger.id, seedIds.alice)
    case 'bot-out':
      return people.removeBot(chatId)
    case 'bot-in':
      return people.addBot(chatId)
    case 'hide':
      faults.add({ api: 'message.list', do: { kind: 'code', code: 99991672 } })
      return
    case 'react':
      return people.react(asked.trigger.id, seedIds.alice, 'Get')
  }
}

/** The line is well again, dead processes are started, and everything that is owed runs until nothing is. */
async function calm(world: World): Promise<void> {
  world.offline = false
  world.deaf = false
  for (const office of world.offices.values()) {
    if (office.process.dead) office.bury()
    else office.process.release()
    await office.process.rest()
  }
  while (world.asked.some((one) => !one.committed)) await world.commit('A')
  await rest(world)
}

/** Runs what is due, moves time to the next that is not, and ends when nothing is owed. */
async function rest(world: World): Promise<void> {
  await start(world, 'A', false)
  const office = world.office('A')
  office.process.release()
  const limit = world.time.now() + 72 * HOUR
  for (let round = 0; round < 1_000; round++) {
    if (office.begin()) {
      await office.process.rest()
      continue
    }
    if ((await office.sweep()) > 0) continue
    const [owed] = await world.db.sql<{ at: number | null }[]>`
      select least(
        (select min(case when state = 'running' then held_until + 1 else due_at + ${world.sweepGraceMs} end)
          from collab.wakes where state in ('pending', 'running') and kind in ('deliver', 'reaction')),
        (select min(greatest(prepared_at + 12000, coalesce(next_try_at, 0)))
          from collab.reactions where state in ('prepared', 'removing'))) as at`
    const at = owed?.at ?? null
    if (at === null) return
    // What the queue knows comes by itself; the rest is found by a sweep after its grace.
    const now = world.time.now()
    const next = Math.min(at > now ? at : now + world.sweepGraceMs, world.desk.nextAt() ?? Infinity)
    if (next > limit) break
    await world.time.advance(Math.max(1, next - now), false)
  }
  throw new Error('it never comes to rest')
}

/** An operator settles what is parked, part by part, as the schedule says and in the end with the truth. */
async function settle(world: World): Promise<void> {
  const verdicts = [...world.schedule.verdicts]
  for (let nth = 0; nth < world.asked.length; nth++) {
    for (let round = 0; round < 20; round++) {
      await world.time.advance(3 * MINUTE, false)
      const verdict = verdicts.shift() ?? 'truth'
      // A part that is not parked takes no verdict, and a retry without one would go on for ever.
      if (!(await world.isParked(nth))) break
      await world.decide(nth, verdict)
      await rest(world)
    }
    if (await world.isParked(nth)) throw new Error('a part stays parked whatever the operator says')
  }
}
