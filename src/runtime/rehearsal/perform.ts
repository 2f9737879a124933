import type { TurnEnded, TurnEvent, TurnInput, Verdict } from '../../collab/ports.js'
import { unreachable } from '../../lib/assert.js'
import { failed, interrupted } from '../event-queue.js'
import { aborted, wait } from '../wait.js'
import type { RehearsedFailure } from './directives.js'
import { fileNamed } from './files.js'
import { longText, tables, textOfParts } from './long-text.js'
import { languageOf, ownerMessage, parseSteps, type Step } from './parse.js'
import { plainAnswer, said } from './words.js'

export interface Stage {
  /** Counts from 1 within the session. */
  readonly turnNumber: number
  readonly signal: AbortSignal
  report(event: TurnEvent): void
  /** Resolves with the verdict, or with null when the turn was stopped first. */
  ask(operation: string): Promise<Verdict | null>
}

/** Follows the directives of one message from top to bottom and says how the turn ended. */
export async function perform(input: TurnInput, stage: Stage): Promise<TurnEnded> {
  const message = ownerMessage(input.text)
  const language = languageOf(message)
  const steps = parseSteps(message)
  const words = said[language]
  const answer: string[] = []
  const attached: string[] = []
  let conclusion: string | null = null
  let waitedMs = 0

  for (const step of steps) {
    if (stage.signal.aborted) return interrupted
    switch (step.do) {
      case 'think':
        stage.report({ kind: 'activity', activity: 'thinking' })
        break
      case 'delay':
        stage.report({ kind: 'activity', activity: 'other' })
        if (!(await wait(step.ms, stage.signal))) return interrupted
        waitedMs += step.ms
        break
      case 'ask': {
        const verdict = await stage.ask(step.operation)
        if (verdict === null) return interrupted
        answer.push((verdict === 'allow-once' ? words.allowed : words.refused)(step.operation))
        break
      }
      case 'attach':
        stage.report({ kind: 'file', fileName: step.fileName, ...fileNamed(step.fileName) })
        attached.push(step.fileName)
        break
      case 'conclusion':
        conclusion = step.text
        break
      case 'turn':
        answer.push(words.turn(stage.turnNumber))
        break
      case 'explain':
        answer.push(words.usage(step.name))
        break
      case 'fail':
        return fail(step.how, stage.signal)
      case 'reply':
      case 'long':
      case 'parts':
      case 'table':
        answer.push(textOf(step))
        break
      default:
        unreachable(step)
    }
  }
  if (steps.length === 0) answer.push(plainAnswer(message, input.attachments.length, language))
  if (attached.length > 0) answer.push(words.attached(attached))
  if (answer.length === 0) answer.push(waitedMs > 0 ? words.waited(waitedMs) : words.done)
  if (stage.signal.aborted) return interrupted
  stage.report({ kind: 'activity', activity: 'answering' })
  return { kind: 'ended', ended: 'completed', final: answer.join('\n\n'), conclusion }
}

function textOf(step: Extract<Step, { do: 'reply' | 'long' | 'parts' | 'table' }>): string {
  switch (step.do) {
    case 'reply':
      return step.text
    case 'long':
      return longText(step.bytes)
    case 'parts':
      return textOfParts(step.count)
    case 'table':
      return tables(step.count)
  }
}

async function fail(how: RehearsedFailure, signal: AbortSignal): Promise<TurnEnded> {
  switch (how) {
    case 'exit':
      return failed('exited', 'rehearsed: the agent exited with code 1')
    case 'silent':
      return failed('no-output', 'rehearsed: the agent ended without an answer')
    case 'garbage':
      return failed('garbage', 'rehearsed: the agent wrote what is not its protocol')
    case 'unavailable':
      return failed('unavailable', 'rehearsed: the runtime cannot take turns now')
    case 'too-large':
      return failed('too-large', 'rehearsed: the answer is over the limit')
    case 'hang':
      // A hanging agent says nothing at all; only a stop ends it.
      await aborted(signal)
      return interrupted
  }
}
