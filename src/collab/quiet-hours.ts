/** From one minute of the day until another, by the clock of a place; it may go over midnight. */
export interface QuietHours {
  /** Minutes since midnight, 0 to 1439; the first that is quiet. */
  readonly from: number
  /** The first that is not quiet any more. */
  readonly until: number
  /** An IANA name, such as `Asia/Shanghai`. */
  readonly zone: string
}

/** Is this moment, in milliseconds since the epoch, within the hours? A change of the clock there is followed. */
export function isQuiet({ from, until, zone }: QuietHours, at: number): boolean {
  const minute = minuteOfDay(at, zone)
  return from < until ? minute >= from && minute < until : minute >= from || minute < until
}

function minuteOfDay(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const [hours = 0, minutes = 0] = parts.format(at).split(':').map(Number)
  return hours * 60 + minutes
}

/** Whether this is the name of a time zone. */
export function isZone(zone: unknown): zone is string {
  if (typeof zone !== 'string' || !/^[A-Za-z][\w+/-]{0,60}$/.test(zone)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

const SPAN = /^(?<h1>[01]\d|2[0-3]):(?<m1>[0-5]\d)-(?<h2>[01]\d|2[0-3]):(?<m2>[0-5]\d)@(?<zone>\S+)$/u

/** Reads `22:00-08:00@Asia/Shanghai`; null for anything else, and for hours that never end. */
export function quietHoursOf(text: string): QuietHours | null {
  const found = SPAN.exec(text)?.groups
  if (found === undefined || !isZone(found['zone'])) return null
  const from = Number(found['h1']) * 60 + Number(found['m1'])
  const until = Number(found['h2']) * 60 + Number(found['m2'])
  return from === until ? null : { from, until, zone: found['zone'] }
}

/** The same in words: what `quietHoursOf` reads. */
export function quietHoursText({ from, until, zone }: QuietHours): string {
  const clock = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
  return `${clock(from)}-${clock(until)}@${zone}`
}
