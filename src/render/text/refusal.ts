import type { Language } from '../../collab/delivery.js'
import type { HostRefusal, Refuser } from '../../collab/host-refusal.js'
import type { RefusalView } from '../../collab/project/refusals.js'

/** Whose refusal it was, and what mends it. */
interface Diagnosis {
  readonly whose: string
  readonly mend: string
}

const hosts: Readonly<Record<Language, Readonly<Record<HostRefusal['by'], Diagnosis>>>> = {
  en: {
    sandbox: {
      whose: 'the sandbox of the agent’s host stopped it, and nobody was asked',
      mend: 'have it done inside the workspace, or let whoever runs me widen the sandbox',
    },
    policy: {
      whose: 'a rule of the agent’s host forbids it, and nobody was asked',
      mend: 'ask for another way, or let whoever runs me change that rule',
    },
  },
  zh: {
    sandbox: {
      whose: '被智能体所在主机的沙箱阻止，未询问任何人',
      mend: '请改在工作区内完成，或由部署我的人放宽沙箱',
    },
    policy: {
      whose: '被智能体所在主机的规则禁止，未询问任何人',
      mend: '请换一种做法，或由部署我的人修改该规则',
    },
  },
}

/** By `rule` where this application or the provider refused; else the first line holds for all. */
const others: Readonly<
  Record<Language, Readonly<Record<Exclude<Refuser, HostRefusal['by']>, Readonly<Record<string, Diagnosis>>>>>
> = {
  en: {
    application: {
      'no-grant': {
        whose: 'no permission of this gateway covers it, and nobody could be asked',
        mend: 'have an owner ask for it, with questions on (APPROVAL_WAIT_MS), and allow it on the card',
      },
      'no-answer': {
        whose: 'no permission of this gateway covers it, and nobody answered the question in time',
        mend: 'ask again and answer the card that comes',
      },
    },
    person: { refused: { whose: 'a person refused it', mend: 'whoever refused may ask for it again and allow it' } },
    provider: {
      'rate-limit': {
        whose: 'the model provider takes no more for now: its limit is reached',
        mend: 'wait, or raise the limit',
      },
      'signed-out': {
        whose: 'the model provider does not accept the sign-in',
        mend: 'sign in again on the machine of the gateway',
      },
      'refused-by-provider': {
        whose: 'the model provider does not answer this by a rule of its own',
        mend: 'ask in another way, or use another model',
      },
    },
  },
  zh: {
    application: {
      'no-grant': {
        whose: '本网关没有相应的许可，且无人可问',
        mend: '请由所有者提出（须已开启询问，APPROVAL_WAIT_MS），并在卡片上允许',
      },
      'no-answer': { whose: '本网关没有相应的许可，且无人及时答复', mend: '请再次提出，并答复随后的卡片' },
    },
    person: { refused: { whose: '有人拒绝了它', mend: '拒绝者可再次提出并予以允许' } },
    provider: {
      'rate-limit': { whose: '模型提供方已达用量上限，暂不接受', mend: '请稍候，或提高上限' },
      'signed-out': { whose: '模型提供方不接受登录凭据', mend: '请在网关所在的机器上重新登录' },
      'refused-by-provider': { whose: '模型提供方按其自身规则不回答此内容', mend: '请换一种问法，或换用其他模型' },
    },
  },
}

/** Whose refusal it was and the mend; a rule that has no words of its own is named by whose it is. */
export function diagnosisOf(refusal: Pick<RefusalView, 'by' | 'rule'>, language: Language): Diagnosis {
  if (refusal.by === 'sandbox' || refusal.by === 'policy') return hosts[language][refusal.by]
  const known = others[language][refusal.by]
  const [first] = Object.values(known)
  return (Object.hasOwn(known, refusal.rule) ? known[refusal.rule] : first) ?? { whose: refusal.rule, mend: '' }
}

/** What the agent's host refused, in a chat: whose refusal it was, the mend, and last the operation itself. */
export function hostRefusalText(refusal: HostRefusal, language: Language): string {
  const { whose, mend } = hosts[language][refusal.by]
  const { rule, tool, operation } = refusal
  const what = operation === null ? tool : operation
  return language === 'zh'
    ? `没有执行：${whose}（${rule}）。这并非有人拒绝。${mend}。操作（${tool}）：${what}`
    : `Not done: ${whose} (${rule}). No person refused it. To go on, ${mend}. The operation (${tool}): ${what}`
}
