import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Command } from 'commander'
import { auditLines } from '../control-plane/audit/export.ts'
import { messageOf, UserError } from '../errors.ts'
import { createRuntime, withDatabase } from './runtime.ts'

function entryId(text: string | undefined): number {
  if (text === undefined) return 0
  if (!/^\d{1,15}$/.test(text)) throw new UserError('--after must be the id of an entry, such as 120.')
  return Number(text)
}

const exportCommand = new Command('export')
  .description('write the audit log: one JSON object per line, oldest first')
  .argument('[file]', 'where to; standard output when left out')
  .option('--after <id>', 'only entries after this id')
  .action(async (file: string | undefined, options: { after?: string }) => {
    const after = entryId(options.after)
    const runtime = createRuntime()
    await withDatabase(
      runtime,
      async (database) => {
        const lines = Readable.from(auditLines(database, {}, after))
        const target = file ? createWriteStream(file, { mode: 0o600 }) : process.stdout
        await pipeline(lines, target, { end: file !== undefined }).catch((error) => {
          throw file ? new UserError(`${file} cannot be written: ${messageOf(error)}.`, { cause: error }) : error
        })
      },
      () => {},
    )
  })

export const audit = new Command('audit').description('the audit log: who did what').addCommand(exportCommand)
