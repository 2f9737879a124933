import { relative, resolve } from 'node:path'
import { errorLabel } from '../lib/log.js'

/** What a system or database code means for the one who starts this, and what to do. */
const ofDatabase: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start it or correct',
  ECONNRESET: 'start it or correct',
  ETIMEDOUT: 'start it or correct',
  CONNECT_TIMEOUT: 'start it or correct',
  EHOSTUNREACH: 'start it or correct',
  ENETUNREACH: 'start it or correct',
  // It is starting or ending; or it has no connection to give.
  '57P03': 'try again when it is up, or correct',
  '53300': 'let it give more connections, or correct',
  ENOTFOUND: 'no host has this name, correct',
  EAI_AGAIN: 'the name of its host is not known now, correct',
  '28P01': 'it does not know this user and password, correct',
  '28000': 'it does not let this user in, correct',
  '3D000': 'it has no database of this name, make it or correct',
  '42501': 'this user may not do that there, grant it or correct',
}

/** Why a database could not be used; null for an error that is not about reaching or entering it. */
export function databaseProblem(error: unknown, variable: string): string | null {
  const code = codeOf(error)
  const mend = code === null ? undefined : ofDatabase[code]
  return mend === undefined ? null : `cannot reach the database (${code}): ${mend} ${variable}`
}

/**
 * One calm line about an error that nobody expected: no stack, no private path, no address that may hold a password.
 *
 * @param dataDir the data folder: what fails in it is named by its variable
 */
export function calmProblem(error: unknown, dataDir: string): string {
  const { path, code } = fieldsOf(error)
  if (typeof path === 'string' && typeof code === 'string') {
    return isWithin(path, dataDir)
      ? `cannot use DATA_DIR (${code}): it must name a folder in which this user may write`
      : `cannot use a file that is needed (${code})`
  }
  return withoutPlaces(errorLabel(innermost(error)))
}

/** Addresses first: what follows their scheme looks like a path. */
function withoutPlaces(text: string): string {
  return text.replaceAll(/\b\w+:\/\/\S+/g, '…').replaceAll(/(?<![\w.])\/[^\s'",:;)]+/g, '…')
}

function isWithin(path: string, folder: string): boolean {
  const from = resolve(folder)
  const inside = !relative(from, resolve(path)).startsWith('..')
  // A folder above it that is a file is as wrong as itself.
  return inside || !relative(resolve(path), from).startsWith('..')
}

/** The cause that a library wrapped: its message is about the fault, the wrapper's about a statement. */
function innermost(error: unknown): unknown {
  let inner = error
  for (let depth = 0; depth < 5; depth += 1) {
    const { cause } = fieldsOf(inner)
    if (!(cause instanceof Error)) return inner
    inner = cause
  }
  return inner
}

function codeOf(error: unknown): string | null {
  const inner = fieldsOf(innermost(error))
  // Node tries each address of a name and reports them together.
  const first = Array.isArray(inner.errors) ? fieldsOf(inner.errors[0]).code : undefined
  const code = inner.code ?? first
  return typeof code === 'string' ? code : null
}

interface Fields {
  readonly path?: unknown
  readonly code?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

const fieldsOf = (error: unknown): Fields => (typeof error === 'object' && error !== null ? error : {})
