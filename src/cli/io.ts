import type { Readable, Writable } from 'node:stream'

/** What the command line needs from outside; `main.ts` and `app` give it. */
export interface CliIo {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  readonly env: {
    /** Where the gateway listens. */
    readonly url: string
    /** Empty when none is known. */
    readonly token: string
    /** An agent's own token; empty or absent when none is known. */
    readonly agentToken?: string
    /** The caller's LANG, or empty. */
    readonly lang: string
  }
  /** The pipes of `mcp`; absent where there are none. */
  readonly stdio?: { readonly input: Readable; readonly output: Writable }
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Files that a command names; absent where there are none. */
  readonly files?: CliFiles
  /** Makes the identity of a command, so that a repeated call is one command. */
  readonly newId: () => string
}

export interface CliFiles {
  /** Null when there is no such file, or it cannot be read. */
  read(path: string): Promise<Uint8Array | null>
  /** `exists`: nothing is written over. */
  write(path: string, bytes: Uint8Array): Promise<'written' | 'exists' | 'failed'>
}

/** Done, refused or failed, wrongly called, not reachable. */
export const exitCodes = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
