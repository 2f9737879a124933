/** No message nests so deep; a deeper value comes from somebody who wants to see what breaks. */
const DEEPEST = 32

/**
 * The same value with only such text as can be stored: Postgres takes neither NUL nor half a surrogate pair in JSON,
 * and an event that cannot be stored would be pushed again and then lost. Undefined for a value nested too deep.
 */
export function storable<T>(value: T): T | undefined {
  try {
    // The shape is kept; only texts change.
    return cleaned(value, 0) as T
  } catch (error) {
    if (error instanceof TooDeep) return undefined
    throw error
  }
}

class TooDeep extends Error {}

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storableText(value)
  if (value === null || typeof value !== 'object') return value
  if (depth > DEEPEST) throw new TooDeep()
  if (Array.isArray(value)) return value.map((one) => cleaned(one, depth + 1))
  // `fromEntries` defines own members, so a key such as `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [storableText(key), cleaned(one, depth + 1)]))
}

const unstorable = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** What must be looked at more closely: almost no text has any of these. */
const suspicious = /[\0\ud800-\udfff]/

/** One text with what Postgres cannot keep replaced by U+FFFD. */
export function storableText(text: string): string {
  return suspicious.test(text) ? text.replace(unstorable, '\ufffd') : text
}
