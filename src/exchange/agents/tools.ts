import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import type { Exchange } from '../deps.js'
import { standing } from '../tokens.js'
import { artifactGet, artifactPut } from './artifacts.js'
import { ask } from './ask.js'
import { assess } from './assess.js'
import { cancel } from './cancel.js'
import { reassign, revise } from './change.js'
import { discover } from './discover.js'
import { declareEffect, settleEffect } from './effects.js'
import { inboxRead } from './inbox.js'
import { recallGap } from './recall.js'
import { relate } from './relate.js'
import { report } from './report.js'
import { saveBrief } from './save-brief.js'
import { list, show } from './show.js'
import { split } from './split.js'
import { linkWork, todoClaim, todoList, todoRelease, todoWrite, visionRead, visionReplan } from './work.js'

/**
 * The tools of every agent, manager and workers alike; the door has proved who calls. A call in a running turn of the
 * caller's own lane proves that the turn has begun, which is written before anything is decided.
 *
 * @source RFC §5.6 ("presented to a worker turn")
 */
export function createAgentTools(x: Exchange): AgentTools {
  const tools = toolsOf(x)
  const proving = Object.entries(tools).map(([verb, call]: [string, Verb]) => [
    verb,
    async (caller: ToolCaller, said: never) => {
      if (caller.turn !== null) await x.running.acted(caller.turn, standing(caller))
      return await call(caller, said)
    },
  ])
  return Object.fromEntries(proving) as AgentTools
}

type Verb = (caller: ToolCaller, said: never) => Promise<unknown>

function toolsOf(x: Exchange): AgentTools {
  return {
    inboxRead: (caller, page) => inboxRead(x, caller, page),
    assess: (caller, said) => assess(x, caller, said),
    report: (caller, said) => report(x, caller, said),
    discover: (caller, query) => discover(x, caller, query),
    ask: (caller, said) => ask(x, caller, said),
    revise: (caller, said) => revise(x, caller, said),
    cancel: (caller, said) => cancel(x, caller, said),
    reassign: (caller, said) => reassign(x, caller, said),
    relate: (caller, said) => relate(x, caller, said),
    split: (caller, said) => split(x, caller, said),
    linkWork: (caller, said) => linkWork(x, caller, said),
    saveBrief: (caller, said) => saveBrief(x, caller, said),
    recallGap: (caller, said) => recallGap(x, caller, said),
    declareEffect: (caller, said) => declareEffect(x, caller, said),
    settleEffect: (caller, said) => settleEffect(x, caller, said),
    artifactPut: (caller, said) => artifactPut(x, caller, said),
    artifactGet: (caller, said) => artifactGet(x, caller, said),
    show: (caller, request) => show(x, caller, request),
    list: (caller, page) => list(x, caller, page),
    todoList: (caller, goal) => todoList(x, caller, goal),
    todoWrite: (caller, said) => todoWrite(x, caller, said),
    todoClaim: (caller, said) => todoClaim(x, caller, said),
    todoRelease: (caller, said) => todoRelease(x, caller, said),
    visionRead: (caller, goal) => visionRead(x, caller, goal),
    visionReplan: (caller, said) => visionReplan(x, caller, said),
  }
}
