import { overlap, weightsOf, wordsOf, type Words } from '../../collab/project/words.js'
import { shortOf } from '../../collab/project/told.js'
import type { RecallProvider } from '../../collab/recall.js'
import type { Instant } from '../../collab/refs.js'
import { pastTexts } from '../../stores/views/past.js'
import type { Exchange } from '../deps.js'
import { scopeOf } from '../open.js'

/** Texts that one question looks at. */
const LOOKED_AT = 200

/** Recall over our own ledger: what the same agent said in the same conversation, by the words that distinguish it. */
export function localRecall(x: Pick<Exchange, 'db' | 'clock'>): RecallProvider {
  return {
    name: 'local',
    async recall({ agent, conversation, request, gap, most }, signal) {
      const texts = await pastTexts(x.db.sql, {
        agent,
        conversation,
        except: request,
        accessScope: scopeOf(conversation),
        most: LOOKED_AT,
      })
      const need = wordsOf([gap])
      const own: Words[] = []
      for (const { body } of texts) {
        // A text may be long, and everything else of this process waits meanwhile: it gets its turn after each.
        await new Promise((resolve) => setImmediate(resolve))
        if (signal.aborted) return { answer: 'not-available', because: 'timeout' }
        own.push(wordsOf([body]))
      }
      const weights = weightsOf(need, own)
      const ranked = texts
        .map((text, n) => ({ text, fit: overlap(weights, own[n] ?? new Set()) ?? 0 }))
        .filter(({ fit }) => fit > 0)
        .toSorted((a, b) => b.fit - a.fit)
      const coverage = {
        searched: texts.length,
        omitted: Math.max(0, ranked.length - most),
        until: x.clock.now() as Instant,
      }
      if (ranked.length === 0) return { answer: 'nothing-found', coverage }
      const hits = ranked
        .slice(0, most)
        .map(({ text: { request: of, source, at, body } }) => ({ request: of, source, at, text: shortOf(body) }))
      return { answer: 'found', hits, coverage }
    },
  }
}
