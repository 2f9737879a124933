import postgres from 'postgres'

/**
 * Refuses to work with a database driver that ends the process when Postgres dies inside a transaction.
 *
 * `scripts/guard-postgres.mjs` corrects the driver in node_modules and leaves this mark; `npm start`, `npm test` and the
 * image run it. An installation made by hand has to.
 */
export function assertDriverGuard(
  driver: { readonly guard?: unknown } = postgres as { readonly guard?: unknown },
): void {
  if (driver.guard !== 'lark-manager-2')
    throw new Error('the database driver is not corrected yet: run `node scripts/guard-postgres.mjs` after npm ci')
}
