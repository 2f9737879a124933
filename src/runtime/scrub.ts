/** One line for an operator out of what an agent said about itself: no secret of its environment, no path, bounded. */
export function scrub(text: string, env: Readonly<Record<string, string>>): string {
  let line = text.trim().split('\n').at(-1)?.trim() ?? ''
  for (const [name, value] of Object.entries(env)) {
    if (value.length >= 6 && /key|token|secret|password|auth|credential/iu.test(name))
      line = line.replaceAll(value, '***')
  }
  return line
    .replace(/\b(?:sk|pk|ghp|lma|xox[a-z])[-_][\w-]{8,}/gu, '***')
    .replace(/(?:file:\/\/)?(?:~|\.{1,2})?(?:\/[\w.@+~-]+){2,}\/?/gu, '…')
    .replace(/\p{Cc}/gu, '')
    .slice(0, 160)
}
