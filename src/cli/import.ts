import { Command } from 'commander'
import { counted } from '../basics/counted.ts'
import type { Database } from '../database/database.ts'
import { openDatabase } from '../database/open.ts'
import { messageOf, UserError } from '../errors.ts'
import { adoptDevLake } from '../import-devlake/adopt.ts'
import { importDevLake } from '../import-devlake/import.ts'
import type { ImportReport } from '../import-devlake/report.ts'
import { keepSecret } from '../log.ts'
import { plugins } from '../plugins/index.ts'
import { addressSecrets } from '../secrets/address-secrets.ts'
import { openSecrets } from '../secrets/encryption-key.ts'
import { prepareDatabase } from '../start/prepare-database.ts'
import { commandLineActor } from './control.ts'
import { createRuntime, type Runtime, withDatabase } from './runtime.ts'

interface Options {
  readonly from?: string
  readonly inPlace?: boolean
  readonly encryptionSecretEnv: string
  readonly withoutSecrets?: boolean
  readonly backup?: string
  readonly iHaveABackup?: boolean
  readonly json?: boolean
}

const devlake = new Command('devlake')
  .description('bring over connections, projects, blueprints and data of a DevLake database')
  .option('--from <url>', "copy from this database, DevLake's DB_URL; it is only read")
  .option('--in-place', 'adopt the database of DB_URL itself: DevLake cannot use it afterwards')
  .option(
    '--encryption-secret-env <name>',
    "the environment variable with DevLake's ENCRYPTION_SECRET",
    'ENCRYPTION_SECRET',
  )
  .option('--without-secrets', 'leave tokens and passwords behind; the report says which to enter again')
  .option('--backup <file>', 'with --in-place: a dump of the database, newer than its last change')
  .option('--i-have-a-backup', 'with --in-place: there is a backup elsewhere')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    '\nStop DevLake first. With --from, the database of DB_URL must be empty. If the command is interrupted, run it again: it continues.\nThe report lists what came over, and what did not and why. docs/move-from-devlake.md tells the whole way.',
  )
  .action(async (options: Options) => {
    const { from, inPlace = false, json = false } = options
    if ((from === undefined) === !inPlace) {
      throw new UserError(
        'Say where DevLake is: --from URL to copy its database, or --in-place to adopt that of DB_URL.',
      )
    }
    const runtime = createRuntime()
    const report = from === undefined ? await adopt(runtime, options) : await copy(runtime, from, options)
    if (json) console.log(JSON.stringify(report))
    else for (const line of linesOf(report)) console.log(line)
  })

export const importCommand = new Command('import').description('move in from another system').addCommand(devlake)

const choiceOf = ({ encryptionSecretEnv, withoutSecrets = false }: Options) => {
  const secret = process.env[encryptionSecretEnv]
  if (secret) keepSecret(secret)
  return { secret, variable: encryptionSecretEnv, withoutSecrets }
}

const progressOf = ({ signal }: Runtime, { json = false }: Options) => ({
  signal,
  onProgress: (table: string, records: number) => {
    if (!json) console.log(`weir: ${table}: ${counted(records, 'row')}`)
  },
})

/** Explains an interruption, which happens between two batches: rows that are written stay, and count. */
async function untilInterrupted<Result>({ signal }: Runtime, body: () => Promise<Result>): Promise<Result> {
  try {
    return await body()
  } catch (error) {
    if (signal.reason?.name !== 'AbortError') throw signal.reason ?? error
    throw new UserError('The import was interrupted. Run the same command again: it continues.', { cause: error })
  }
}

function copy(runtime: Runtime, from: string, options: Options): Promise<ImportReport> {
  for (const secret of addressSecrets(from)) keepSecret(secret)
  if (from === runtime.config.databaseUrl) {
    throw new UserError('--from and DB_URL are the same database: set DB_URL to an empty one, or use --in-place.')
  }
  const body = async (target: Database) => {
    const source = await openSource(from)
    try {
      const secrets = await openSecrets(target, runtime.config)
      const settings = {
        target,
        secrets,
        plugins,
        choice: choiceOf(options),
        actor: commandLineActor(),
        ...progressOf(runtime, options),
      }
      return await untilInterrupted(runtime, () => importDevLake(source, from, settings))
    } finally {
      await source.close()
    }
  }
  const prepare = (target: Database) => prepareDatabase(target, { continuesImport: true })
  return withDatabase(runtime, body, () => {}, prepare)
}

async function openSource(from: string): Promise<Database> {
  try {
    return await openDatabase(from)
  } catch (error) {
    throw new UserError(messageOf(error).replaceAll('DB_URL', '--from'), { cause: error })
  }
}

function adopt(runtime: Runtime, options: Options): Promise<ImportReport> {
  const { config } = runtime
  if (!config.databaseUrl) throw new UserError('Set DB_URL to the database of DevLake that is to be adopted.')
  const settings = {
    plugins,
    choice: choiceOf(options),
    actor: commandLineActor(),
    backup: { file: options.backup, isPromised: options.iHaveABackup },
    openSecrets: (database: Database) => openSecrets(database, config),
    ...progressOf(runtime, options),
  }
  return withDatabase(
    runtime,
    (database, url) => untilInterrupted(runtime, () => adoptDevLake(database, url, settings)),
    () => {},
    async () => {},
  )
}

function linesOf({ origin, inPlace, tables, leftOut, enterAgain }: ImportReport): string[] {
  const rows = tables.reduce((sum, each) => sum + each.rows, 0)
  const width = Math.max(0, ...tables.map(({ table }) => table.length))
  const came = tables.map(({ layer, table, rows }) => `  ${layer.padEnd(14)}${table.padEnd(width + 2)}${rows}`)
  const stayed = [
    ...leftOut.tables.map(({ table, rows, reason }) => `  ${table}, ${counted(rows, 'row')}: ${reason}`),
    ...leftOut.columns.map(({ table, column, reason }) => `  ${table}.${column}: ${reason}`),
    ...leftOut.rows.map(({ table, rows, reason }) => `  ${table}, ${counted(rows, 'row')}: ${reason}`),
  ]
  const secrets = enterAgain.map(({ plugin, connection, field }) => `  ${plugin} connection ${connection}: ${field}`)
  return [
    `${inPlace ? 'Adopted' : 'Imported'} from ${origin}: ${counted(rows, 'row')} of ${counted(tables.length, 'table')}.`,
    ...came,
    ...(stayed.length > 0 ? ['Left out:', ...stayed] : []),
    ...(secrets.length > 0 ? ['Enter again:', ...secrets] : []),
    'Start the server with `npx weir up`. The next run of each blueprint collects everything again.',
  ]
}
