import type { Sandbox } from './sandbox.js'

/** Fixed ids, the ones the recorded payloads use, so that tests and documents can name them. */
export const seedIds = {
  alice: 'ou_365dd77a24668d45e4ef2913f80b51bf',
  bob: 'ou_2055637b20a0d512c212157d230c59e8',
  dm: 'oc_6b51577fb13177032fa6f617732397b5',
  group: 'oc_9a08acd9974372defdb5a622b43e6378',
  topicGroup: 'oc_d7030d89f4a9bf9b6b21f2f8cebeadc8',
} as const

/** A small world: Alice, who owns the bot, Bob, a direct chat, an ordinary group and a topic group. */
export function seedSandboxWorld(sandbox: Pick<Sandbox, 'world'>): typeof seedIds {
  const { world } = sandbox
  const { alice, bob } = seedIds
  world.addPerson({
    name: 'Alice',
    openId: alice,
    unionId: 'on_a49148d140e05e05020ec22ebda3bd39',
    userId: 'df9f4f66',
  })
  world.addPerson({ name: 'Bob', openId: bob, unionId: 'on_7a6ce8eaba243a35e3499aeb48a8198e', userId: 'd5238445' })
  world.addChat({ mode: 'p2p', name: 'Alice', members: [alice], chatId: seedIds.dm })
  world.addChat({ mode: 'group', name: 'Gateway test group', members: [alice, bob], chatId: seedIds.group })
  world.addChat({ mode: 'topic', name: 'Gateway topics', members: [alice, bob], chatId: seedIds.topicGroup })
  return seedIds
}
