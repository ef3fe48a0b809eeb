/** Adds the present tables and migrations to the list of versions, if they differ from the last one of the list. */
import { readFileSync, writeFileSync } from 'node:fs'
import { schemaVersions } from '../src/database/migrate.ts'
import { schemaHash } from '../src/database/schema-hash.ts'
import { FIRST_LISTED, HASHES } from '../src/database/schema-versions.ts'
import { allTables } from '../src/tables.ts'

const listFile = new URL('../src/database/schema-versions.ts', import.meta.url)
const CURRENT = schemaHash([schemaVersions, ...allTables])

/** The problem with the list; undefined if it ends with the present schema. */
export const outdated = (hashes: readonly string[] = HASHES, current = CURRENT): string | undefined =>
  hashes.at(-1) === current
    ? undefined
    : 'Tables or migrations have changed since the last version of the schema: run `npm run schema-version`, and commit src/database/schema-versions.ts.'

if (import.meta.main) {
  if (outdated()) {
    const text = readFileSync(listFile, 'utf8')
    writeFileSync(listFile, text.replace(/\n`/, `\n${CURRENT}\n\``))
    console.log(`Schema version ${FIRST_LISTED + HASHES.length}: commit src/database/schema-versions.ts.`)
  } else console.log(`The schema is still that of version ${FIRST_LISTED + HASHES.length - 1}.`)
}
