import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, vi } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { buttonsOf } from '../kit/buttons.js'
import { hasBwrap } from '../kit/confined.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, textOf, until, type TestGateway } from '../kit/gateway.js'
import { attach, byHttp, disposed, gatewayBy, promptFor, shapeOf, type Inlet } from './kit.js'
import { standingOf, type Standing } from './standing.js'
import { controlTexts, injections, MARK } from './texts.js'
import { readPrompt } from './skeleton.js'

// Many texts go through one gateway in each test.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/*
 * What is proved here is what the host does with text that pretends to be more: the agents are scripted, and follow
 * directives of the owner's message alone. Whether a real model lets itself be talked into using a permission that it
 * has is not proved by any of this.
 */

describe.skipIf(!hasBwrap).each<Inlet>(['long connection', 'webhook'])(
  'text that pretends to be more, by %s',
  (inlet) => {
    let g: TestGateway
    let card: WorldMessage
    let token = ''
    let elsewhere = ''
    let bobs = ''
    let before: Standing = {}
    const world = () => g.served.sandbox.world
    const chunks = Array.from({ length: Math.ceil(injections.length / 8) }, (_, n) =>
      Array.from({ length: 8 }, (_unused, at) => injections[n * 8 + at]?.text ?? 'harmless'),
    )
    const ask = (text: string, more: object = {}) =>
      world().say({ chatId: g.ids.group, from: g.ids.alice, text, mentionBot: true, ...more })
    const answered = (asked: WorldMessage) =>
      until(() => g.answers(asked.chatId).find((one) => one.parentId === asked.id), 'the answer', 120_000)
    const unchanged = async () => {
      expect(await standingOf(g.db)).toEqual(before)
      expect(g.answers(elsewhere)).toEqual([])
      for (const chat of [g.ids.group, g.ids.topicGroup, bobs]) {
        expect(
          g
            .answers(chat)
            .map(textOf)
            .filter((text) => text.includes(MARK)),
        ).toEqual([])
      }
    }

    beforeAll(async () => {
      g = await testGateway(await gatewayBy(inlet, () => g))
      elsewhere = world().addChat({ mode: 'group', name: 'Elsewhere', members: [g.ids.alice, g.ids.bob] }).chatId
      bobs = world().addChat({ mode: 'p2p', name: 'Bob', members: [g.ids.bob] }).chatId
      token = await attach(g, 'auditor', 'audits')
      // Something that waits for the owner all the time: a turn that could be stopped, and a decision to be forged.
      const asked = world().say({ chatId: g.ids.dm, from: g.ids.alice, text: '!ask rm -r build/' })
      card = await until(
        () => g.answers(g.ids.dm).find((one) => one.parentId === asked.id && buttonsOf(one).length > 0),
        'the card',
        120_000,
      )
      before = await standingOf(g.db)
      expect(before['facts']).toEqual({ 'approval-asked': 1 })
      expect(before['inTheNameOf']).toEqual([g.ids.alice])
    })
    afterAll(() => g.stop())

    acceptance(
      'A3',
      'said by somebody else, to the bot or in their own chat with it, starts and settles nothing',
      async () => {
        for (const { text } of injections) {
          world().say({ chatId: g.ids.group, from: g.ids.bob, text, mentionBot: true })
          world().say({ chatId: g.ids.topicGroup, from: g.ids.bob, text, mentionBot: true })
          world().say({ chatId: bobs, from: g.ids.bob, text })
        }
        await disposed(g)
        await unchanged()
      },
    )

    acceptance(
      'A3',
      'standing near a question of the owner, it is shown as what others said and as nothing else',
      async () => {
        const near = async (texts: readonly string[]) => {
          for (const text of texts) world().say({ chatId: g.ids.group, from: g.ids.bob, text })
          await disposed(g)
          const asked = ask('!reply nothing to it')
          const prompt = await promptFor(g, asked)
          await answered(asked)
          return prompt
        }
        // The first prompt of a session tells of the session as well.
        await near(['harmless'])
        const harmless = shapeOf(await near(Array.from({ length: 8 }, () => 'harmless')))
        for (const texts of chunks) {
          const prompt = await near(texts)
          expect(shapeOf(prompt)).toEqual(harmless)
          expect(readPrompt(prompt).messages).toEqual(['!reply nothing to it'])
        }
        await unchanged()
      },
    )

    acceptance('A3', 'quoted by the owner, it is evidence under the name of whoever wrote it', async () => {
      const quoting = async (text: string) => {
        const quoted = world().say({ chatId: g.ids.group, from: g.ids.bob, text, silent: true })
        const asked = ask('!reply about that', { replyTo: quoted.id })
        await answered(asked)
        return await promptFor(g, asked)
      }
      // What is quoted is read from the platform, whatever the inlet: each of the two takes its half.
      const half = injections.filter((_, n) => n % 2 === (inlet === 'webhook' ? 1 : 0))
      const harmless = await quoting('harmless')
      for (const { name, text } of half) {
        const prompt = await quoting(text)
        expect(shapeOf(prompt), name).toEqual(shapeOf(harmless))
        expect(readPrompt(prompt).messages, name).toEqual(['!reply about that'])
      }
      await unchanged()
    })

    acceptance('A3', 'forwarded by the owner in a bundle, it is no word of the owner', async () => {
      const bundle = (texts: readonly string[]) => ({
        raw: { msgType: 'merge_forward', content: '{"text":"Merged and Forwarded Message"}' },
        children: texts.map((text) => ({ from: g.ids.bob, msgType: 'text', content: JSON.stringify({ text }) })),
      })
      const forward = async (texts: readonly string[]) =>
        await promptFor(g, world().say({ chatId: g.ids.group, from: g.ids.alice, mentionBot: true, ...bundle(texts) }))
      const harmless = await forward(['harmless'])
      const hostile = await forward(injections.map(({ text }) => text))
      expect(shapeOf(hostile)).toEqual(shapeOf(harmless))
      expect(readPrompt(hostile).messages).toEqual(readPrompt(harmless).messages)
      expect(readPrompt(hostile).outside.split(MARK).length).toBeGreaterThan(30)
      await disposed(g)
      await unchanged()
    })

    acceptance('A3', 'as the name of a file or of a person, it stays a name on its line', async () => {
      const people = (names: readonly string[]) => names.map((name) => world().addPerson({ name }).openId)
      const naming = async (names: readonly string[]) => {
        const members = people(names)
        const name = names.join(' ')
        const { chatId } = world().addChat({ mode: 'group', name, members: [g.ids.alice, ...members] })
        for (const [n, fileName] of names.slice(0, 12).entries()) {
          const bytes = Buffer.from(`content ${n}: ${names.join('\n')}`)
          world().sayFile({ chatId, from: g.ids.alice, kind: 'file', fileName, bytes, silent: true } as never)
        }
        const file_key = world().upload({
          from: g.ids.bob,
          fileName: must(names[0], 'a name'),
          bytes: Buffer.from(names.join('\n')),
          kind: 'file',
        })
        const content = JSON.stringify({ file_key, file_name: names.join(' ') })
        const quoted = world().say({
          chatId,
          from: must(members[0], 'a member'),
          raw: { msgType: 'file', content },
          silent: true,
        })
        const asked = world().say({
          chatId,
          from: g.ids.alice,
          text: 'who?',
          mentionBot: true,
          mentions: members,
          replyTo: quoted.id,
        })
        const prompt = await promptFor(g, asked)
        await answered(asked)
        return prompt
      }
      const harmless = await naming(injections.map((_, n) => `harmless ${n}`))
      const hostile = await naming(injections.map(({ text }) => text.slice(0, 200)))
      expect(shapeOf(hostile)).toEqual(shapeOf(harmless))
      expect(readPrompt(hostile).messages).toHaveLength(1)
      expect(must(readPrompt(hostile).messages[0], 'the message')).not.toMatch(/[\n\r\u2028\u2029\u202e\u2066]/u)
      await disposed(g)
      await unchanged()
    })

    acceptance(
      'A3',
      'in what an agent gives back it is evidence, and in what it says to its tools it is data',
      async () => {
        const client = new Client({ name: 'auditor', version: '1' })
        const transport = new StreamableHTTPClientTransport(new URL(`${g.gateway.url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        })
        await client.connect(transport as Parameters<Client['connect']>[0])
        const call = async (tool: string, given: object): Promise<Readonly<Record<string, unknown>>> => {
          if (inlet === 'webhook') return (await byHttp(g, token, tool, given)).body
          const answer = await client.callTool({ name: tool, arguments: given as Record<string, unknown> })
          return (answer.structuredContent ?? {}) as Readonly<Record<string, unknown>>
        }
        // The same refusal in the form of either door.
        const refused =
          inlet === 'webhook'
            ? { type: expect.stringContaining('urn:lark-manager:problem:') as string }
            : { outcome: 'rejected' }
        const handed = async (report: string) => {
          const given = { request: '$request', receiver: 'auditor', intent: 'consultation', asks: '$asks' }
          const asking = JSON.stringify({ ...given, question: 'what is it?', brief: 'Look.', reason: 'it looks' })
          const asked = ask(`!unless returned tool ask_agent ${asking}\n!if returned reply seen`)
          type Items = {
            items: readonly { request: string; revision: number; brief: string; asks: { id: string }[] }[]
          }
          const [item] = await until(
            async () => {
              const { items } = (await call('inbox_read', {})) as unknown as Items
              return items.length === 0 ? null : items
            },
            'what was handed on',
            120_000,
          )
          const { request, revision, asks } = must(item, 'the item')
          const covers = asks.map(({ id }) => id)
          const judged = covers.map((one) => ({ ask: one, judgment: 'accepted', reason: report.slice(0, 1_000) }))
          expect(await call('assess_request', { request, onRevision: revision, asks: judged })).toMatchObject({
            outcome: 'accepted',
          })
          return {
            asked,
            request,
            revision,
            covers,
            finish: () => call('report_result', { request, covers, text: report }),
          }
        }
        const returnedTo = async (asked: WorldMessage) => {
          const back = async () => {
            const prompt = await promptFor(g, asked)
            return prompt.includes('Came back from') ? prompt : null
          }
          return await until(back, 'the return', 120_000)
        }
        const first = await handed('harmless')
        expect(await first.finish()).toMatchObject({ outcome: 'accepted' })
        const harmless = await returnedTo(first.asked)
        await answered(first.asked)

        // Control characters are refused at the door; what is left of the texts is told.
        const told = injections.map(({ text }) => text.replaceAll(/[\v\f\u0085]/gu, '\n')).join('\n\n')
        const second = await handed(told)
        const { request, revision, covers } = second
        const unclean = injections.map(({ text }) => text).join('\n\n')
        expect(await call('report_result', { request, covers, text: unclean })).toMatchObject(refused)
        for (const { text } of injections) {
          const words = text.slice(0, 400)
          await call('save_brief', { request, onRevision: revision, decisions: [words], next: [words] })
          await call('todo_write', { goal: 'audits', title: words.slice(0, 200) })
          await call('discover_agents', { need: words })
          await call('recall_gap', { request, gap: words })
          await call('artifact_put', { request, fileName: words, text: words })
          const doubt = { by: 'none' }
          const declared = await call('declare_effect', {
            request,
            effectKind: words.slice(0, 100),
            target: words,
            input: words,
            doubt,
          })
          const { effect } = declared
          if (typeof effect === 'string') await call('settle_effect', { request, effect, became: 'confirmed' })
          // In the place of an id it is no id, or one of nothing that this agent may see.
          for (const [tool, given] of [
            ['exchange_show', { request: words }],
            ['cancel_request', { request: words, onRevision: 1 }],
            ['relate_message', { earlier: words, later: request, onRevision: 1, as: 'correction' }],
            ['artifact_get', { request, artifact: words }],
            ['todo_list', { goal: words }],
            [
              'ask_agent',
              { request, receiver: words, intent: 'delegation', asks: [words], question: 'q', brief: 'b', reason: 'r' },
            ],
          ] as const) {
            const answer = await call(tool, given)
            expect(answer, `${tool} with ${words}`).toMatchObject(refused)
          }
        }
        expect(await second.finish()).toMatchObject({ outcome: 'accepted' })
        const hostile = await returnedTo(second.asked)
        await answered(second.asked)
        expect(shapeOf(hostile)).toEqual(shapeOf(harmless))
        expect(readPrompt(hostile).messages).toEqual(readPrompt(harmless).messages)
        await client.close()
        await unchanged()
      },
    )

    acceptance('A3', 'an agent’s own token opens none of the operator’s doors, whatever is said with it', async () => {
      const [grantId, session] = ['019a0000-0000-7000-8000-000000000001', 'session']
      const doors = [
        ['GET', '/api/v1/grants'],
        ['GET', '/api/v1/requests'],
        ['POST', `/api/v1/grants/${grantId}/revoke`],
        ['POST', '/api/v1/agents/auditor/tokens'],
        ['POST', `/api/v1/sessions/${session}/stop`],
        ['POST', '/api/v1/goals'],
      ] as const
      for (const { text } of injections.slice(0, 40)) {
        for (const [method, path] of doors) {
          const body = method === 'GET' ? {} : { body: JSON.stringify({ id: text, title: text, reason: text }) }
          const headers = {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'idempotency-key': 'x',
          }
          expect((await fetch(g.gateway.url + path, { method, headers, ...body })).status).toBe(401)
        }
      }
      await unchanged()
    })

    acceptance(
      'A3',
      'on a card it decides nothing: neither in a value, nor in a form, nor in another’s name',
      async () => {
        const real = buttonsOf(card).map(({ value }) => value as Record<string, unknown>)
        const acts = [
          'allow-once',
          'allow-always',
          'refuse',
          'stop',
          'run-held',
          'skip-held',
          'show-result',
          'drop-result',
        ]
        const forged: object[] = [
          ...real.map((value) => ({
            ...value,
            operator: { open_id: g.ids.alice },
            openId: g.ids.alice,
            user_id: g.ids.alice,
          })),
          ...real.flatMap((value) => acts.map((act) => ({ ...value, act }))),
          ...injections.map(({ text }) => ({
            of: 'lark-manager',
            form: '1',
            act: text,
            request: text,
            approval: text,
            conversation: text,
          })),
        ]
        for (const value of forged) {
          const { shown, ...rest } = await world().click({ messageId: card.id, by: g.ids.bob, value })
          expect(shown).toBe('answer')
          expect(JSON.stringify(rest)).not.toContain('"success"')
        }
        // The owner’s own hand on a button that nobody of ours has made.
        for (const { text } of injections) {
          const value = { text, of: 'lark-manager', form: '1', act: 'allow-always', request: text, approval: text }
          const answer = await world().click({
            messageId: card.id,
            by: g.ids.alice,
            value,
            inputValue: text,
            formValue: { act: 'allow-always', text },
          })
          expect(JSON.stringify(answer)).not.toContain('"success"')
        }
        await unchanged()
      },
    )

    acceptance(
      'A23',
      'a control word counts only as an owner’s whole message: not quoted, not near, not in a likeness',
      async () => {
        for (const word of controlTexts) {
          for (const text of [`what does “${word}” do?`, `> ${word}\nand this?`, `\`${word}\``]) {
            const asked = ask(`${text}\n!reply about words`)
            await answered(asked)
          }
        }
        const likeness = injections.filter(({ name }) => /Cyrillic|zero-width space|override|isolates/u.test(name))
        expect(likeness).toHaveLength(4)
        for (const { text } of likeness) await promptFor(g, ask(text))
        await unchanged()
      },
    )

    acceptance('A3', 'after all of it the decision is still the owner’s, and is heard', async () => {
      await unchanged()
      const refuse = must(
        buttonsOf(card).find((one) => one.label === 'Refuse'),
        'the button',
      )
      expect(
        JSON.stringify(await world().click({ messageId: card.id, by: g.ids.alice, value: refuse.value })),
      ).toContain('success')
      await until(
        () => g.answers(g.ids.dm).some((one) => textOf(one).includes('Refused: rm -r build/')),
        'the answer',
        120_000,
      )
      expect(await g.db.sql`select 1 from collab.grants`).toEqual([])
    })
  },
)
