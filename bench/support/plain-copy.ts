/** PostgreSQL's own bulk load, with nothing but COPY. */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'

/** Puts the rows of tables into files, and makes empty copies with the same keys and indexes. Returns the function that loads them. */
export async function plainCopy(
  client: pg.Client,
  tables: readonly string[],
  folder: string,
): Promise<() => Promise<void>> {
  for (const table of tables) {
    await client.query(`create table "floor_${table}" (like "${table}" including all)`)
    await pipeline(client.query(copyTo(`copy "${table}" to stdout`)), createWriteStream(join(folder, table)))
  }
  return async () => {
    for (const table of tables) {
      await pipeline(createReadStream(join(folder, table)), client.query(copyFrom(`copy "floor_${table}" from stdin`)))
    }
  }
}
