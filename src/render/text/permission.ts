import type { Language } from '../../collab/delivery.js'
import type { Gap } from '../../collab/grant.js'
import type { Offer } from '../../collab/grant-offer.js'
import type { Effect } from '../../collab/grant-scope.js'
import type { Notice } from '../../collab/notice.js'
import type { Catalogue } from './notice.js'

type Asked = Extract<Notice, { kind: 'approval' }>
type Words = Pick<Catalogue, 'approval' | 'approval-given' | 'approval-denied' | 'approval-lapsed' | 'permission-ended'>

const effectWords: Readonly<Record<Language, Readonly<Record<Effect, string>>>> = {
  en: {
    read: 'read',
    write: 'write',
    execute: 'run commands',
    network: 'reach over the network',
    delegate: 'hand work on',
    publish: 'publish',
    administer: 'administer',
  },
  zh: {
    read: '读取',
    write: '写入',
    execute: '执行命令',
    network: '访问网络',
    delegate: '转交工作',
    publish: '发布',
    administer: '管理',
  },
}

const effectsIn = (effects: readonly Effect[], language: Language): string =>
  effects.map((effect) => effectWords[language][effect]).join(language === 'zh' ? '、' : ' and ')

/** The place that an offer is about, as it is compared. */
export const placeOf = ({ scope }: Offer): string => (scope.kind === 'path' ? scope.prefix : scope.host)

/** A button has room for the end of a long path; the sentence above it holds the whole. */
const ROOM = 40

function short(place: string): string {
  const letters = [...place]
  return letters.length <= ROOM ? place : `…${letters.slice(1 - ROOM).join('')}`
}

/** What the button of an offer says. */
export function offeredButton(offer: Offer, language: Language): string {
  const place = short(placeOf(offer))
  if (offer.scope.kind === 'path') return language === 'zh' ? `始终允许 ${place} 之下` : `Always under ${place}`
  return language === 'zh' ? `始终允许 ${place}` : `Always ${place}`
}

function offeredEn(offer: Offer): string {
  const end = `by the same agent, in this chat, for ${offer.days} days`
  return offer.scope.kind === 'path'
    ? ` “Always under” means: ${effectsIn(offer.effects, 'en')} anything below ${offer.scope.prefix} on ${offer.scope.host}, ${end}.`
    : ` “Always ${offer.scope.host}” means: any exchange with exactly that host, ${end}.`
}

function offeredZh(offer: Offer): string {
  const end = `仅限同一智能体、在此聊天中，有效 ${offer.days} 天`
  return offer.scope.kind === 'path'
    ? `“始终允许……之下”是指：在 ${offer.scope.host} 上${effectsIn(offer.effects, 'zh')} ${offer.scope.prefix} 之下的任何内容，${end}。`
    : `“始终允许 ${offer.scope.host}”是指：与该主机的任何往来，${end}。`
}

const day = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function gapEn(gap: Gap): string {
  switch (gap.kind) {
    case 'none':
      return 'no permission covers it'
    case 'not-named':
      return 'no permission covers exactly this'
    case 'unresolved':
      return 'it could not be found out where its path really leads'
    case 'revoked':
      return `the permission that allowed it was revoked (${day(gap.at)}, ${gap.grant})`
    case 'expired':
      return `the permission that allowed it has ended (${day(gap.at)}, ${gap.grant})`
    case 'parent-ended':
      return `the permission that allowed it was made of another one, which has ended (${gap.grant})`
    case 'other-audience':
      return `the permission that would allow it counts in another chat (${gap.grant})`
    case 'other-effect':
      return `the permission there only allows to ${effectsIn(gap.allows, 'en')} (${gap.grant})`
    case 'outside':
      return `it lies outside ${gap.scope}, which is what is permitted (${gap.grant})`
  }
}

function gapZh(gap: Gap): string {
  switch (gap.kind) {
    case 'none':
      return '没有相应的许可'
    case 'not-named':
      return '没有针对这一操作本身的许可'
    case 'unresolved':
      return '无法查明其路径实际指向何处'
    case 'revoked':
      return `原本允许它的许可已被撤销（${day(gap.at)}，${gap.grant}）`
    case 'expired':
      return `原本允许它的许可已到期（${day(gap.at)}，${gap.grant}）`
    case 'parent-ended':
      return `原本允许它的许可源自另一项许可，而后者已失效（${gap.grant}）`
    case 'other-audience':
      return `可允许它的许可只在另一个聊天中有效（${gap.grant}）`
    case 'other-effect':
      return `该处的许可只允许${effectsIn(gap.allows, 'zh')}（${gap.grant}）`
    case 'outside':
      return `它在许可范围 ${gap.scope} 之外（${gap.grant}）`
  }
}

const cutEn = ({ cut }: Asked): string =>
  cut === undefined ? '' : `\n… and ${cut.more} more characters. SHA-256 of the whole: ${cut.digest}`
const cutZh = ({ cut }: Asked): string =>
  cut === undefined ? '' : `\n……还有 ${cut.more} 个字符。全文的 SHA-256：${cut.digest}`

export const permissionEn: Words = {
  approval: (asked) =>
    `${asked.agent === 'manager' ? 'I (the manager) would' : `The agent ${asked.agent} would`} like to do this, and ${gapEn(asked.gap ?? { kind: 'none' })}:\n\n${asked.operation}${cutEn(asked)}\n\nNothing of it happens until you answer here. I wait for ${asked.minutes === 1 ? 'a minute' : `${asked.minutes} minutes`}, then go on without it.${asked.cut === undefined ? ' “Always allow this” means exactly this, by the same agent, in this chat.' : ''}${asked.offer === undefined ? '' : offeredEn(asked.offer)}`,
  'approval-given': ({ standing, scope }) =>
    scope !== undefined
      ? `Allowed, now and for ${scope.days} days in this chat: ${effectsIn(scope.effects, 'en')} ${scope.scope.kind === 'path' ? `below ${scope.scope.prefix}` : scope.scope.host}. \`lark-manager grant revoke\` ends it.`
      : standing
        ? 'Allowed, now and from here on: exactly this, in this chat. `lark-manager grant revoke` ends it.'
        : 'Allowed, this once.',
  'approval-denied': () => 'Refused. It is not done.',
  'approval-lapsed': () => 'What asked for this has ended, so it was not done. Whoever still needs it asks anew.',
  'permission-ended': ({ gap }) =>
    `Something was not done, because ${gapEn(gap)}. What is still needed can be allowed with \`lark-manager grant add\`.`,
}

export const permissionZh: Words = {
  approval: (asked) =>
    `${asked.agent === 'manager' ? '我（manager）' : `智能体 ${asked.agent}`}想执行以下操作，但${gapZh(asked.gap ?? { kind: 'none' })}：\n\n${asked.operation}${cutZh(asked)}\n\n在你答复之前不会执行。我会等待 ${asked.minutes} 分钟，之后将不执行它而继续。${asked.cut === undefined ? '“始终允许”仅指由同一智能体在此聊天中执行完全相同的操作。' : ''}${asked.offer === undefined ? '' : offeredZh(asked.offer)}`,
  'approval-given': ({ standing, scope }) =>
    scope !== undefined
      ? `已允许，自现在起 ${scope.days} 天内在此聊天中：${effectsIn(scope.effects, 'zh')} ${scope.scope.kind === 'path' ? `${scope.scope.prefix} 之下` : scope.scope.host}。可用 lark-manager grant revoke 撤销。`
      : standing
        ? '已允许，今后在此聊天中的同一操作也允许。可用 lark-manager grant revoke 撤销。'
        : '已允许，仅此一次。',
  'approval-denied': () => '已拒绝，不会执行。',
  'approval-lapsed': () => '请求它的工作已经结束，因此没有执行。如仍有需要，会再次询问。',
  'permission-ended': ({ gap }) =>
    `有一项操作没有执行：${gapZh(gap)}。如仍需要，可用 lark-manager grant add 授予许可。`,
}
