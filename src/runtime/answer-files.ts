import { isAbsolute, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { TurnEvent } from '../collab/ports.js'
import { nameOffered, offeredFile } from './acp/offered-files.js'

/** Where an agent puts what it gives, in its workspace. */
export const OUTBOX = 'outbox'

/** For agents that can only write text: how a file goes with an answer. */
export const HOW_TO_GIVE_FILES = `To give a file with your answer, put it below ${OUTBOX}/ in your workspace and link it in the answer, for example [report.pdf](${OUTBOX}/report.pdf). A picture of your workspace that the answer shows, ![what it is](path.png), is sent too. Other links are only shown.`

const MOST_FILES = 20
/** Bytes of all files of one answer; they wait in memory until they are stored. */
const MOST_BYTES = 100 * 1000 * 1000

/**
 * The files that an answer gives: what it links below `outbox/` of the workspace, and the pictures of the workspace
 * that it shows. A link to anything else is a mention and gives nothing.
 */
export async function filesOfAnswer(answer: string, workspace: string): Promise<readonly TurnEvent[]> {
  const events: TurnEvent[] = []
  const seen = new Set<string>()
  let bytes = 0
  for (const { target, shown } of linksIn(answer)) {
    const path = localPath(target, workspace)
    if (path === null || seen.has(path)) continue
    if (!shown && !path.startsWith(join(workspace, OUTBOX, sep))) continue
    seen.add(path)
    const block = { type: 'resource_link', uri: pathToFileURL(path).href }
    const full = events.length >= MOST_FILES || bytes >= MOST_BYTES
    const file = full ? ({ offered: false, because: 'too-many' } as const) : await offeredFile(block, workspace)
    if (file.offered) {
      bytes += file.event.bytes.byteLength
      events.push(file.event)
    } else if (file.because !== 'not-a-file') {
      events.push({ kind: 'file-left-out', fileName: nameOffered(block), because: file.because })
    }
  }
  return events
}

function linksIn(answer: string): readonly { readonly target: string; readonly shown: boolean }[] {
  const found = answer.matchAll(/(!?)\[[^\]\n]*\]\(\s*(?:<([^>\n]+)>|([^)\s]+))[^)\n]*\)/gu)
  return [...found].map(([, mark, inBrackets, plain]) => ({ target: inBrackets ?? plain ?? '', shown: mark === '!' }))
}

/** Null for an address of another kind; what a path really leads to is seen when the file is opened. */
function localPath(target: string, workspace: string): string | null {
  try {
    if (target.startsWith('file:')) return fileURLToPath(target)
    if (target === '' || /^(?:[a-z][a-z+.-]*:|#|\/\/)/iu.test(target)) return null
    const path = decodeURIComponent(target)
    return isAbsolute(path) ? join(path) : join(workspace, path)
  } catch {
    return null
  }
}
