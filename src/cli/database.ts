import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { sql } from 'kysely'
import { UserError } from '../errors.ts'
import { readableTables } from './readable-tables.ts'
import { createRuntime, withDatabase } from './runtime.ts'

const NAME = /^[a-z_][a-z0-9_]{0,30}$/

const grantReader = new Command('grant-reader')
  .description('create a user that can read the data of dashboards, for Grafana and other tools')
  .option('--user <name>', 'its name', 'weir_reader')
  .addHelpText(
    'after',
    '\nREADER_PASSWORD sets its password; without it, a password is generated and printed. Run the command again after an update:\nthere may be new tables. The user cannot read connections, keys or sessions, and cannot change anything.',
  )
  .action(async ({ user }: { readonly user: string }) => {
    if (!NAME.test(user)) {
      throw new UserError(
        `--user must begin with a small letter and have small letters, digits and _ only: not ${user}.`,
      )
    }
    const known = process.env.READER_PASSWORD
    const password = known || randomBytes(18).toString('base64url')
    await withDatabase(
      createRuntime(),
      async ({ dialect, kysely }) => {
        for (const statement of dialect.grantReader({ user, password, tables: readableTables })) {
          await sql.raw(statement).execute(kysely)
        }
      },
      () => {},
    )
    console.log(`${user} can read ${readableTables.length} tables.`)
    if (!known) console.log(`Its password: ${password}`)
  })

export const database = new Command('database').description('the database, for other readers').addCommand(grantReader)
