import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Command } from 'commander'
import { fileNamed, requirePlace, writeUserFile } from '../basics/user-file.ts'
import { auditLines } from '../control-plane/audit/export.ts'
import { UserError } from '../errors.ts'
import { FORCE } from './force.ts'
import { createRuntime, withDatabase } from './runtime.ts'

function entryId(text: string | undefined): number {
  if (text === undefined) return 0
  if (!/^\d{1,15}$/.test(text)) throw new UserError('--after must be the id of an entry, such as 120.')
  return Number(text)
}

const exportCommand = new Command('export')
  .description('write the audit log: one JSON object per line, oldest first')
  .argument('[file]', 'where to; standard output when left out, or -')
  .option('--after <id>', 'only entries after this id')
  .option(...FORCE)
  .action(async (named: string | undefined, options: { after?: string; force?: boolean }) => {
    const file = fileNamed(named)
    const after = entryId(options.after)
    const { force = false } = options
    if (file) await requirePlace(file, { force })
    const runtime = createRuntime()
    await withDatabase(
      runtime,
      async (database) => {
        const lines = () => Readable.from(auditLines(database, {}, after))
        if (file === undefined) return pipeline(lines(), process.stdout, { end: false })
        const fill = (draft: string) => pipeline(lines(), createWriteStream(draft))
        await writeUserFile(file, fill, { isPrivate: true, force })
        console.log(`The audit log is in ${file}.`)
      },
      () => {},
    )
  })

export const audit = new Command('audit').description('the audit log: who did what').addCommand(exportCommand)
