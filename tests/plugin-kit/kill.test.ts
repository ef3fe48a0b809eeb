import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { readAll } from '../../src/database/read.ts'
import { write } from '../../src/database/write.ts'
import { issues as domainIssues, issueLabels as domainLabels } from '../../src/domain/ticket.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import { systemTables } from '../../src/system/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import { issues, labels, params, rawIssues, sample } from '../support/sample-plugin.ts'

const RECORDS = 8000
const KILLS = 5

/** Some records are invalid on purpose, some have labels, some appear twice. */
const record = (index: number) => ({
  id: index % 5000,
  title: `issue ${index}`,
  opened_at: index % 997 === 0 ? 'no date' : '2024-01-01T00:00:00Z',
  points: index % 1009 === 0 ? -1 : 1,
  labels: [`a${index % 7}`, `b${index % 3}`],
})

async function prepare(database: Database): Promise<void> {
  await migrate(database, [...systemTables, quarantine, domainIssues, domainLabels, ...sample.tables])
  for (let start = 0; start < RECORDS; start += 2000) {
    const rows = Array.from({ length: 2000 }, (_, index) =>
      rawIssues.row({
        id: (start + index + 1) as never,
        params: params(7),
        data: Buffer.from(JSON.stringify(record(start + index))),
        created_at: new Date(Date.UTC(2024, 0, 1)),
      }),
    )
    await write(database, rows)
  }
}

/** Returns all rows without their times of writing. */
async function contents(url: string): Promise<Record<string, unknown[]>> {
  const database = await openDatabase(url)
  const found: Record<string, unknown[]> = {}
  for (const table of [issues, labels, domainIssues, domainLabels, quarantine]) {
    const rows = (await readAll(database, { table: table as typeof issues })) as Record<string, unknown>[]
    found[table.name] = rows.map(({ created_at, updated_at, ...rest }) => rest)
  }
  await database.close()
  return found
}

/** Kills the run some milliseconds after its `lines`th line of progress. Without `kill` it runs to its end. */
async function runTarget(
  url: string,
  mode: 'full' | 'incremental',
  kill?: { lines: number; after: number },
): Promise<number | null> {
  const child = startProgram(join(import.meta.dirname, 'kill-target.ts'), [url, mode])
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let seen = 0
  for await (const _line of createInterface(child.stdout)) {
    if (++seen !== kill?.lines) continue
    await sleep(kill.after)
    child.kill('SIGKILL')
  }
  return ended
}

describeEachDatabase('kill -9 in the middle of extracting and converting', (test) => {
  it('leaves nothing that the next run does not mend', async () => {
    const calm = await test.createDatabase()
    const harried = await test.createDatabase()
    for (const url of [calm, harried]) {
      const database = await openDatabase(url)
      await prepare(database)
      await database.close()
    }
    expect(await runTarget(calm, 'full')).toBe(0)
    for (let kills = 0; kills < KILLS; kills++) {
      const moment = { lines: 1 + Math.floor(Math.random() * 14), after: Math.random() * 40 }
      await runTarget(harried, kills % 2 ? 'incremental' : 'full', moment)
    }
    expect(await runTarget(harried, 'incremental')).toBe(0)
    const [expected, found] = [await contents(calm), await contents(harried)]
    for (const [name, rows] of Object.entries(expected)) {
      expect(rows.length, name).toBeGreaterThan(0)
      expect(found[name], name).toEqual(rows)
    }
  })
})
