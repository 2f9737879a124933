import { z } from 'zod'
import { answerOfReceipt, answerOfWork, rejected, shown } from './answer.js'
import {
  body,
  claimEpoch,
  doubt,
  effectId,
  goal,
  id,
  leaseMs,
  reason,
  requestId,
  short,
  workRevision,
} from './schemas.js'
import { reads, writes, type Tool } from './tool.js'

const receiptMeans =
  'The receipt says accepted (done), already-applied (it was done before), conflict (something changed first; nothing was done) or rejected with a reason.'
const ambiguous = 'work-ambiguous means that it may have been done: look before you try again, with the same key.'

/** Outside effects of a request, and the work owner's own objects. */
export const workTools: readonly Tool[] = [
  writes(
    {
      name: 'declare_effect',
      title: 'Declare an outside effect',
      description: `Say what you are about to do outside before you do it: a push, a message, a payment. Accepted gives \`effect\` and \`providerKey\`; hand that key to the provider where it takes one, so that a repeat is harmless. Then do it, then call settle_effect. Rejected means: do not do it. basis-unresolved: a correction came that you have not assessed. effect-open: an earlier effect has an unknown outcome and is settled first. ${receiptMeans}`,
    },
    {
      request: requestId,
      effectKind: short('What kind of effect, for example git-push'),
      target: short('What it acts on, for example a branch'),
      input: body('What exactly is done, so that a person can compare it later'),
      doubt: doubt.describe('How it can be found out what happened, if the answer is lost'),
    },
    async (tools, caller, said) => answerOfReceipt(await tools.declareEffect(caller, said)),
  ),
  writes(
    {
      name: 'settle_effect',
      title: 'Say what became of an effect',
      description: `Records what really happened with a declared effect: submitted, confirmed, failed, or outcome-unknown when the answer was lost. Never call it confirmed without having seen it. ${receiptMeans}`,
    },
    {
      request: requestId,
      effect: effectId,
      became: z.enum(['submitted', 'confirmed', 'failed', 'outcome-unknown']),
      evidence: reason('What you saw: an id, a link, a line of output').optional(),
    },
    async (tools, caller, { evidence, ...said }) =>
      answerOfReceipt(await tools.settleEffect(caller, { ...said, evidence: evidence ?? null })),
  ),
  reads(
    {
      name: 'todo_list',
      title: 'List Todos',
      description:
        'Lists the Todos of a goal with their revisions and who holds a claim. An empty list is an answer. not-visible: the goal is not yours to see, or does not exist.',
    },
    { goal },
    async (tools, caller, said) => {
      const items = await tools.todoList(caller, said.goal)
      return shown(items === null ? null : { items })
    },
  ),
  writes(
    {
      name: 'todo_write',
      title: 'Write a Todo',
      description: `Makes a Todo (leave \`todo\` out) or changes one (give \`todo\` and the revision that you saw). ${receiptMeans} ${ambiguous} Use link_work to tie the receipt to the request that it was for.`,
    },
    {
      goal,
      todo: id('The Todo to change; left out: a new one').optional(),
      title: short('What is to be done'),
      state: z.enum(['open', 'done', 'dropped']).default('open'),
      onRevision: workRevision.optional(),
    },
    async (tools, caller, { todo, onRevision, ...said }) =>
      answerOfWork(await tools.todoWrite(caller, { ...said, todo: todo ?? null, onRevision: onRevision ?? null })),
  ),
  writes(
    {
      name: 'todo_claim',
      title: 'Claim a Todo, or give it back',
      description: `Takes a Todo for yourself for a while, so that nobody else works on it: give \`leaseMs\`, and claim again before the lease ends to keep it. Give \`release\` instead to hand your claim back. conflict means that somebody else holds it. ${receiptMeans} ${ambiguous}`,
    },
    { goal, todo: id('The Todo'), leaseMs: leaseMs.optional(), release: claimEpoch.optional() },
    async (tools, caller, { leaseMs, release, ...said }) => {
      if (leaseMs !== undefined && release === undefined) {
        return answerOfWork(await tools.todoClaim(caller, { ...said, leaseMs }))
      }
      if (leaseMs === undefined && release !== undefined) {
        return answerOfWork(await tools.todoRelease(caller, { ...said, epoch: release }))
      }
      return rejected({ reason: 'bad-arguments', where: ['leaseMs or release: exactly one'] })
    },
  ),
  reads(
    {
      name: 'vision_read',
      title: 'Read the Vision of a goal',
      description:
        'Shows the direction and the acceptance of a goal, with its revision. not-visible: the goal is not yours to see, or it has no Vision.',
    },
    { goal },
    async (tools, caller, said) => {
      const vision = await tools.visionRead(caller, said.goal)
      return shown(vision === null ? null : { vision })
    },
  ),
  writes(
    {
      name: 'vision_replan',
      title: 'Replan the Vision of a goal',
      description: `Replaces direction and acceptance of a goal, on the revision that you saw. Use it only when the request you work on is about that. ${receiptMeans} ${ambiguous}`,
    },
    {
      goal,
      direction: body('Where it goes'),
      acceptance: body('How one sees that it is reached'),
      onRevision: workRevision,
    },
    async (tools, caller, said) => answerOfWork(await tools.visionReplan(caller, said)),
  ),
]
