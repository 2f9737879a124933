import type { SqlLike } from '../db.js'

export interface ArtifactRow {
  readonly id: string
  readonly digest: string
  readonly size: number
  readonly mediaType: string
  readonly fileName: string
  readonly accessScope: string
  readonly source: Readonly<Record<string, string>>
}

const columns = `id, digest, size, media_type as "mediaType", file_name as "fileName", access_scope as "accessScope",
  source`

/** False when a file of this id is on record already; it stays as it is. */
export async function putArtifact(sql: SqlLike, artifact: ArtifactRow, at: number): Promise<boolean> {
  const rows = await sql`
    insert into collab.artifacts (id, digest, size, media_type, file_name, access_scope, source, stored_at)
    values (${artifact.id}, ${artifact.digest}, ${artifact.size}, ${artifact.mediaType}, ${artifact.fileName},
      ${artifact.accessScope}, ${JSON.stringify(artifact.source)}::text::jsonb, ${at})
    on conflict do nothing returning 1`
  return rows.length > 0
}

export async function artifactOf(sql: SqlLike, id: string): Promise<ArtifactRow | null> {
  const [row] = await sql<ArtifactRow[]>`select ${sql.unsafe(columns)} from collab.artifacts where id = ${id}`
  return row ?? null
}

/** Of these ids, or with these bytes, within one access scope; the earliest first. */
export async function artifactsAmong(
  sql: SqlLike,
  accessScope: string,
  among: { readonly ids: readonly string[]; readonly digests: readonly string[] },
): Promise<readonly ArtifactRow[]> {
  const { ids, digests } = among
  if (ids.length + digests.length === 0) return []
  return await sql<ArtifactRow[]>`
    select ${sql.unsafe(columns)} from collab.artifacts
    where access_scope = ${accessScope} and (id = any(${[...ids]}) or digest = any(${[...digests]}))
    order by stored_at, id`
}
