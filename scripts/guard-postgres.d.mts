export const marker: string
/** Corrects the database driver below `root`/node_modules; throws when its source is not the expected one. */
export function guardPostgres(root: string): 'applied' | 'present'
