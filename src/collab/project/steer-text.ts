/** What was asked in a message that came while a turn ran, as it is put into that turn. */
export interface SteerMaterial {
  /** The request that the turn runs for, as it stands. */
  readonly running: { readonly request: string; readonly revision: number }
  readonly followUp: string
  /** As a turn of its own would read it: the words verbatim with where they come from. */
  readonly text: string
}

/**
 * The text that is put into a running turn. What becomes of the message is the agent's to say by its tool: nothing that
 * it merely answers counts as answered.
 *
 * @source RFC §5.6 (messages about one job may be explicitly related), A23
 */
export function composeSteer({ running, followUp, text }: SteerMaterial): string {
  const { request, revision } = running
  return [
    `Another message has come while you work on request ${request} (now at revision ${revision}). It is a request of its own:`,
    text,
    [
      'If it changes or adds to what you are doing now, relate it first, then take it into account:',
      `relate_message with earlier ${request}, later ${followUp}, onRevision ${revision}, as "correction", "addition" or "context".`,
      'Your answer then answers both, and no other turn comes for it.',
      'If it is separate work, leave it and do not answer it here: it gets a turn of its own after this one.',
    ].join('\n'),
  ].join('\n\n')
}
