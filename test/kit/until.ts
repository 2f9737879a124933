/** Waits until the condition holds, looking every few milliseconds; throws at the deadline. */
export async function until(condition: () => boolean, what: string, limitMs = 5_000): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
