import type { z } from 'zod'
import { Change } from '../../src/web/api/schemas.js'
import { openStream } from '../web/event-reader.js'

export type Told = z.infer<typeof Change>

/** What a watcher was told from one place on, and the place where a reconnect goes on. */
export interface Followed {
  readonly told: readonly Told[]
  readonly place: string | null
  readonly opening: readonly string[]
}

/** Reads one exchange from a place until something was told. */
export async function follow(
  door: { readonly url: string; readonly token: string },
  request: string,
  place: string | null,
  last: (told: Told) => boolean,
): Promise<Followed> {
  const headers = { authorization: `Bearer ${door.token}`, ...(place === null ? {} : { 'last-event-id': place }) }
  const stream = openStream(await fetch(`${door.url}/api/v1/events?request=${request}`, { headers }))
  const told: Told[] = []
  let end = place
  const opening: string[] = []
  while (!told.some(last)) {
    const event = await stream.next()
    end = event.id ?? end
    if (event.event === 'hello' || event.event === 'reset') opening.push(event.event)
    else told.push(Change.parse(JSON.parse(event.data)))
  }
  await stream.close()
  return { told, place: end, opening }
}
