import { Command } from 'commander'
import { counted } from '../basics/counted.ts'
import { UserError } from '../errors.ts'
import { plugins } from '../plugins/index.ts'
import { isAnyKept, type RetentionReport, retain } from '../runner/retention/retention.ts'
import { bytesInWords } from './bytes-in-words.ts'
import { createRuntime, withDatabase } from './runtime.ts'

interface Options {
  readonly dryRun?: boolean
  readonly rawDays?: number
  readonly runDays?: number
  readonly json?: boolean
}

const days = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw new UserError(`The number of days must be a whole number, not ${text}.`)
  return Number(text)
}

export const retention = new Command('retention')
  .description('let go old raw payloads and runs, and show that no metric changes')
  .option('--dry-run', 'only show what would go')
  .option('--raw-days <days>', 'instead of RAW_RETENTION_DAYS', days)
  .option('--run-days <days>', 'instead of RUN_RETENTION_DAYS', days)
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    '\nEvery metric of every project is read before and after. If one of them would change, nothing is let go, and the exit code is 1.',
  )
  .action(async ({ dryRun = false, rawDays, runDays, json }: Options) => {
    const runtime = createRuntime()
    const { rawRetentionDays, runRetentionDays } = runtime.config
    const kept = { rawRetentionDays: rawDays ?? rawRetentionDays, runRetentionDays: runDays ?? runRetentionDays }
    if (!isAnyKept(kept)) {
      throw new UserError(
        'Everything is kept for ever: set RAW_RETENTION_DAYS or RUN_RETENTION_DAYS, or add --raw-days or --run-days.',
      )
    }
    const report = await withDatabase(
      runtime,
      (database) => retain({ database, plugins }, kept, { isDry: dryRun }),
      () => {},
    )
    if (json) console.log(JSON.stringify({ dryRun, ...report }))
    else for (const line of linesOf(report, dryRun)) console.log(line)
    if (report.changed.length > 0) process.exitCode = 1
  })

function linesOf({ layers, metrics, changed }: RetentionReport, isDry: boolean): string[] {
  const isLeft = isDry || changed.length > 0
  const lines = layers.flatMap(({ layer, before, tables }) => [
    `${layer}, before ${before.toISOString().slice(0, 10)}: ${tables.length === 0 ? 'nothing' : ''}`.trimEnd(),
    ...tables.map(({ table, rows, bytes }) => `  ${table}: ${counted(rows, 'row')}, about ${bytesInWords(bytes)}`),
  ])
  const proof =
    changed.length === 0
      ? `${counted(metrics, 'metric')} compared: all equal.`
      : `Would change: ${changed.slice(0, 10).join(', ')}${changed.length > 10 ? `, and ${changed.length - 10} more` : ''}.`
  return [...lines, proof, isLeft ? 'Nothing was changed.' : 'Done.']
}
