import { describe, expect, test } from 'vitest'
import { judgeAuthority, type AuthorityContext } from '../../../src/bot/ingress/principal.js'
import { sample, sampleBot, sampleSelf } from '../../replay/samples.js'
import { messageOf, messageWith } from './given.js'

const group = 'oc_9a08acd9974372defdb5a622b43e6378'
const context: AuthorityContext = {
  self: sampleSelf,
  groupsOpen: new Set(),
  atAllChats: new Set(),
  botChats: new Set(),
}

describe('turn authority', () => {
  test.each([
    ['p2p_text', { verdict: 'addressed', because: 'direct-message' }],
    ['group_text_mention', { verdict: 'addressed', because: 'mention' }],
    ['group_post_mention_image', { verdict: 'addressed', because: 'mention' }],
    ['group_post_content_v2_open_id_at', { verdict: 'addressed', because: 'mention' }],
    ['group_text_no_mention', { verdict: 'context-only', because: 'not-addressed' }],
    ['group_text_at_all', { verdict: 'context-only', because: 'at-all' }],
    ['topic_root_post', { verdict: 'context-only', because: 'not-addressed' }],
    ['interactive', { verdict: 'ignored', because: 'other-bot' }],
    ['system', { verdict: 'context-only', because: 'not-addressed' }],
  ])('%s', (name, authority) => {
    expect(judgeAuthority(messageOf(sample(name)), context)).toEqual(authority)
  })

  test('an empty list of mentions is final, whatever the text says', () => {
    expect(judgeAuthority(messageWith('text', { text: '@GatewayBot help' }), context)).toEqual({
      verdict: 'context-only',
      because: 'not-addressed',
    })
  })

  test('a reply without a mention depends on whose message it answers', () => {
    const reply = { ...messageOf(sample('group_text_no_mention')), parentId: 'om_parent' }
    expect(judgeAuthority(reply, context)).toEqual({ verdict: 'if-parent-ours' })
  })

  test('until we know who we are, a group message waits and a direct one does not', () => {
    const unknown = { ...context, self: null }
    expect(judgeAuthority(messageOf(sample('group_text_mention'), sampleBot, null), unknown).verdict).toBe('unjudged')
    expect(judgeAuthority(messageOf(sample('group_text_no_mention')), unknown).verdict).toBe('unjudged')
    expect(judgeAuthority(messageOf(sample('p2p_text')), unknown).verdict).toBe('addressed')
  })

  test('our own messages are ignored, by open id and by app id', () => {
    const message = messageOf(sample('p2p_text'))
    for (const openId of [sampleSelf.openId, sampleBot]) {
      expect(judgeAuthority({ ...message, sender: { ...message.sender, openId } }, context)).toEqual({
        verdict: 'ignored',
        because: 'own-message',
      })
    }
  })

  test('a chat may be opened for every human message, and for @all, each by itself', () => {
    const open = { ...context, groupsOpen: new Set([group]) }
    expect(judgeAuthority(messageOf(sample('group_text_no_mention')), open).verdict).toBe('addressed')
    expect(judgeAuthority(messageOf(sample('group_text_at_all')), open)).toEqual({
      verdict: 'context-only',
      because: 'at-all',
    })
    const atAll = { ...context, atAllChats: new Set([group]) }
    expect(judgeAuthority(messageOf(sample('group_text_at_all')), atAll).verdict).toBe('addressed')
  })
})

describe('another bot', () => {
  const says = (mentionsSelf: boolean, more: object = {}) => {
    const message = messageOf(sample('group_text_no_mention'))
    return { ...message, sender: { ...message.sender, type: 'bot' as const }, mentionsSelf, ...more }
  }
  const allowed = { ...context, botChats: new Set([group]) }

  test('starts a turn only where bots are allowed, and only by naming this one', () => {
    expect(judgeAuthority(says(true), context)).toEqual({ verdict: 'ignored', because: 'other-bot' })
    expect(judgeAuthority(says(true), allowed)).toEqual({ verdict: 'addressed', because: 'other-bot' })
    expect(judgeAuthority(says(true, { chatId: 'oc_elsewhere' }), allowed).verdict).toBe('ignored')
    expect(judgeAuthority(says(true, { chatType: 'p2p' }), allowed).verdict).toBe('ignored')
  })

  test('starts none by answering us, by writing to everybody, or in a group that is open to people', () => {
    const open = { ...allowed, groupsOpen: new Set([group]), atAllChats: new Set([group]) }
    expect(judgeAuthority(says(false, { parentId: 'om_ours' }), open).verdict).toBe('ignored')
    expect(judgeAuthority(says(false, { mentionsAll: true }), open).verdict).toBe('ignored')
    expect(judgeAuthority(says(false), open).verdict).toBe('ignored')
  })

  test('waits until we know who we are: it may be ourselves', () => {
    expect(judgeAuthority(says(true), { ...allowed, self: null }).verdict).toBe('unjudged')
  })
})
