/** Schemes as `URL` names them, each with its colon. */
export const databaseSchemes = ['postgres:', 'postgresql:'] as const
export const redisSchemes = ['redis:', 'rediss:'] as const
export const webSchemes = ['http:', 'https:'] as const

/** True for an address that the clients can take apart, too: they decode each piece of it. */
export function isAddress(text: string, schemes: readonly string[]): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  if (!schemes.includes(url.protocol) || !url.href.startsWith(`${url.protocol}//`)) return false
  try {
    return [url.username, url.password, url.pathname].every((piece) => typeof decodeURIComponent(piece) === 'string')
  } catch {
    return false
  }
}
