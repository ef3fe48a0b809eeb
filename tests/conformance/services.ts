/** Carries out `call` steps with the functions that the REST routes also call. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../../src/database/database.ts'
import { domainTables } from '../../src/domain/index.ts'
import { csvFiles } from '../../src/plugins/customize/csv-files.ts'
import { createField, deleteField, listFields } from '../../src/plugins/customize/fields.ts'
import { importCsv } from '../../src/plugins/customize/import-csv.ts'
import { insertBitbucketScope } from './scopes.ts'

interface Call {
  readonly fn: string
  /** The equivalent REST route. */
  readonly api?: string
  readonly args: Readonly<Record<string, any>>
}

const SERVICES: Readonly<Record<string, (database: Database, args: Call['args'], data: string) => Promise<unknown>>> = {
  'customize.createField': (database, { table, ...field }) => createField(database, table, field as any),
  'customize.listFields': (database, { table }) => listFields(database, table),
  'customize.deleteField': (database, { table, columnName }) => deleteField(database, table, columnName),
  'bitbucket.insertScopeFromApiRepo': (database, args, data) => insertBitbucketScope(database, data, args),
}

/** `data` is the folder of the files that the calls name. */
export async function callService(database: Database, data: string, { fn, api = '', args }: Call): Promise<void> {
  const service = SERVICES[fn]
  const file = csvFiles.find(({ name }) => api.endsWith(`plugins/customize/csvfiles/${name}`))
  if (service) await service(database, args, data)
  else if (file) {
    await importCsv(database, file, readFileSync(join(data, args.csv)), {
      ownerId: args[file.owner.idField],
      ownerName: args[file.owner.nameField],
      isIncremental: args.incremental === true,
    })
  } else throw new Error(`there is no service ${api || fn}`)
}

/** Drops the columns that calls have added, when their rows are cleared. */
export async function dropFields(database: Database, tableName?: string): Promise<void> {
  const live = await database.describe()
  for (const { name } of domainTables) {
    if (tableName && name !== tableName) continue
    for (const column of live.get(name)?.columns.keys() ?? []) {
      if (column.startsWith('x_')) await deleteField(database, name, column)
    }
  }
}
