/** The words that `app` keeps. Alone in its file, so that the other commands begin without loading a gateway. */
export const ownCommands: ReadonlySet<string> = new Set(['start', 'migrate', 'setup'])
