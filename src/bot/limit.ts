/** The value of `work`, or `late` when it takes longer than `limitMs`. The work itself goes on. */
export async function within<T>(work: Promise<T>, limitMs: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, limitMs, 'late')
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    // A fault after the limit is told where the work is done; here it must not become an unhandled rejection.
    work.catch(() => undefined)
  }
}
