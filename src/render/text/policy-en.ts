import type { ChatPolicy, StartRefusal } from '../../collab/chat-policy.js'
import { quietHoursText } from '../../collab/quiet-hours.js'
import { beginning } from './limited.js'
import type { PolicyCatalogue } from './policy.js'

/** What is said about who may start work where. */
export const policyEn: PolicyCatalogue = {
  'start-refused': ({ because }) => refusals[because],
  'operate-owner-only': () =>
    'Only the owner gives me control words here. Nothing was changed. What you ask for in ordinary words I work on.',
  'authority-gone': () =>
    'This waited for its turn, and whoever asked may not start work here any more. It does not run. An owner can ask for it, or open the chat with /chat.',
  'admission-asked': ({ openId, chatId, direct, words }) =>
    [
      direct
        ? `${openId} wrote to me directly and may not start work.`
        : `${openId} named me in the chat ${chatId} and may not start work there.`,
      words === '' ? '' : `They wrote: “${beginning(words)}”`,
      'May they? What they ask for runs with restricted rights and sees that chat only; stopping, settings and permissions stay yours. “For a week” ends after 7 days or 10 requests. After a refusal I ask nothing more about them for 30 days.',
    ]
      .filter((line) => line !== '')
      .join('\n'),
  'admission-given': ({ openId, chatId, starts, days }) =>
    `${openId} may start work ${chatId === null ? 'in every chat that is open to members' : `in the chat ${chatId}`}${days === null ? '' : `, for ${days} days${starts === null ? '' : ` or ${starts} requests`}`}. Say /chat remove=${openId} ${chatId === null ? 'here' : 'there'} to end it. What they wrote before this starts nothing.`,
  'admission-refused': ({ openId, days }) =>
    `Refused. ${openId} starts nothing, and I ask nothing more about them for ${days} days.`,
  'chat-policy': ({ everywhere, policy, ref, readable, isolated, members, setBy, changed }) =>
    [
      `${changed ? 'Set. ' : ''}${everywhere ? 'For every chat that says nothing else' : 'In this chat'} (revision ${everywhere ? ref.everywhere : ref.chat}${setBy === null ? '' : `, set by ${setBy}`}):`,
      ...(readable ? [] : ['A setting cannot be read, so nobody but owners starts work until it is set anew.']),
      `who=${policy.who} · ${who[policy.who]}${policy.who === 'members' ? ` (${members})` : ''}`,
      ...(policy.who === 'members' || policy.who === 'humans'
        ? isolated
          ? ['Their work runs with restricted rights.']
          : ['Their work cannot be kept apart here yet, so only owners start any.']
        : []),
      `mention=${policy.mention === 'required' ? 'on' : 'off'} · ${policy.mention === 'required' ? 'I must be named' : 'I need not be named'}`,
      `all=${onOff(policy.atAll)} · @all ${policy.atAll ? 'counts as naming me' : 'does not count'}`,
      `bots=${onOff(policy.bots)} · other bots ${policy.bots ? 'may ask me, in the owner’s name' : 'start nothing'}`,
      `return=${policy.returns} · answers ${policy.returns === 'reply' ? 'reply to their question' : 'stand alone in the chat'}`,
      `quiet=${policy.quiet === null ? 'off' : quietHoursText(policy.quiet)} · ${policy.quiet === null ? 'no quiet hours' : 'then only an owner who names me starts work'}`,
      `language=${policy.language ?? 'auto'} · ${policy.language === null ? 'I speak as the last message did' : policy.language === 'zh' ? 'I speak Chinese' : 'I speak English'}`,
      `owner=${policy.ownerWork} · ${ownerWork[policy.ownerWork]}`,
      'To change it: /chat who=owner|members|humans|nobody mention=on|off …',
    ].join('\n'),
  'chat-command-wrong': ({ wrong }) =>
    `I cannot read “${beginning(wrong)}”, so nothing was changed. Say /chat to see the settings, or for example: /chat who=members quiet=22:00-08:00@Asia/Shanghai`,
  'chat-policy-refused': ({ because }) =>
    because === 'policy-not-isolated'
      ? 'Not changed: work of anybody but the owner cannot be kept apart here yet, so nobody else may start any. All other settings of /chat work.'
      : 'Not changed: somebody else changed the settings at the same moment. /chat shows what stands now.',
  'member-removed': ({ openId, count }) =>
    count === 0
      ? `${openId} was not admitted here by name, so nothing was changed.`
      : `${openId} starts nothing here any more. What of theirs waits does not run.`,
}

const onOff = (on: boolean): string => (on ? 'on' : 'off')

const who: Readonly<Record<ChatPolicy['who'], string>> = {
  owner: 'only owners start work',
  members: 'owners and the people whom an owner admitted start work',
  humans: 'everybody of the owners’ organisation starts work',
  nobody: 'nobody starts work, owners neither; their control words work',
}

const ownerWork: Readonly<Record<ChatPolicy['ownerWork'], string>> = {
  restricted: 'your own work here runs with restricted rights',
  'private-return': 'your own work here runs as in your direct chat, and the answer goes there',
  owner: 'your own work here runs as in your direct chat, and everybody here reads the answer',
}

const refusals: Readonly<Record<StartRefusal, string>> = {
  'not-addressed': 'Your message starts nothing here.',
  'owner-only': 'Here I only start work for my owners. Your message starts nothing.',
  nobody: 'I start no work in this chat at the moment. An owner can change that with /chat.',
  'not-a-member': 'Here I only start work for people whom an owner admitted. Your message starts nothing.',
  'membership-ended':
    'Your permission to start work here has ended, so your message starts nothing. An owner can renew it.',
  'membership-used-up':
    'You have used all the requests that an owner gave you here, so your message starts nothing. An owner can give more.',
  'other-tenant':
    'Here I start work for the owners’ own organisation only. Your message starts nothing; an owner can admit you by name.',
  'tenant-unknown':
    'The platform did not say which organisation you belong to, so your message starts nothing. An owner can admit you by name.',
  'bots-closed': 'Messages of other bots start nothing here. An owner can change that with /chat.',
  'quiet-hours':
    'These are quiet hours here, so your message starts nothing. Ask when they are over; an owner sees them with /chat.',
  'not-isolated':
    'Work of anybody but the owner cannot be kept apart here yet, so your message starts nothing. An owner can ask for it.',
}
