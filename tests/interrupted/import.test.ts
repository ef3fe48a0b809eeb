/** `weir import devlake` killed at any moment, from another database and in place: it continues, and no server starts before its end. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { accounts } from '../../src/domain/people.ts'
import { readImport } from '../../src/import-devlake/recognise.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { insertRows, makeDevLake, OLD_SECRET, wholeOf } from '../import-devlake/support/devlake-database.ts'
import { keysOf, plantDomain } from '../import-devlake/support/four-keys.ts'
import { runCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { chooseSteps, countSteps, killAt } from '../support/killed-cli.ts'

const KILLS = 4
const ENOUGH_MS = 900_000
const ACCOUNTS = 2500
const DATA_FOLDER = mkdtempSync(join(tmpdir(), 'weir-moved-'))

describeEachDatabase('an import that is killed', (test) => {
  const environmentOf = (url: string) => ({
    DB_URL: url,
    DATA_FOLDER,
    ENCRYPTION_SECRET: 'a key that is only used in tests',
    OLD: OLD_SECRET,
  })
  const opened: Database[] = []
  const open = async (url: string) => {
    const database = await openDatabase(url)
    opened.push(database)
    return database
  }
  afterAll(() => Promise.all(opened.map((each) => each.close())))

  async function makeSource(): Promise<{ url: string; database: Database }> {
    const url = await test.createDatabase()
    const database = await open(url)
    await makeDevLake(database, test.engine)
    await plantDomain(test.database, database)
    const numbers = Array.from({ length: ACCOUNTS }, (_, index) => index)
    await insertRows(
      database,
      numbers.map((number) => accounts.row({ id: `a:${number}`, full_name: `Ada ${number}` })),
    )
    return { url, database }
  }
  /** Returns the report without the name of the database and the times. */
  const reportOf = (output: string) => ({ ...JSON.parse(output), origin: '', startedAt: '', finishedAt: '' })

  /** Kills the command again and again, then lets it finish. Returns its report. */
  async function killAndEnd(command: readonly string[], url: string, steps: number) {
    const database = await open(url)
    for (const step of chooseSteps(steps, KILLS)) {
      await killAt(step, command, environmentOf(url))
      const begun = await readImport(database, await database.describe())
      if (!begun || begun.finished_at) continue
      // Every server and command does this first.
      await expect(prepareDatabase(database)).rejects.toThrow(/interrupted: run the same `npx weir import devlake`/)
    }
    const { code, output, errors } = await runCli(command, environmentOf(url))
    expect([code, errors]).toEqual([0, ''])
    return reportOf(output)
  }

  it('from another database, leaves that one as it is and brings over everything once', {
    timeout: ENOUGH_MS,
  }, async () => {
    const source = await makeSource()
    const before = await wholeOf(source.database)
    const command = ['import', 'devlake', '--from', source.url, '--encryption-secret-env', 'OLD', '--json']
    const whole = await test.createDatabase()
    const steps = await countSteps(command, environmentOf(whole))
    const expected = reportOf((await runCli(command, environmentOf(whole))).output)
    const target = await test.createDatabase()
    expect(await killAndEnd(command, target, steps)).toEqual(expected)
    expect(await keysOf(await open(target))).toEqual(await keysOf(source.database))
    expect(await wholeOf(source.database)).toEqual(before)
  })

  it('in place, keeps every figure and is refused to servers until it is done', { timeout: ENOUGH_MS }, async () => {
    const command = ['import', 'devlake', '--in-place', '--i-have-a-backup', '--encryption-secret-env', 'OLD', '--json']
    const [first, second] = [await makeSource(), await makeSource()]
    const keys = await keysOf(first.database)
    const steps = await countSteps(command, environmentOf(first.url))
    const expected = reportOf((await runCli(command, environmentOf(first.url))).output)
    expect(await killAndEnd(command, second.url, steps)).toEqual(expected)
    expect(await keysOf(second.database)).toEqual(keys)
  })
})
