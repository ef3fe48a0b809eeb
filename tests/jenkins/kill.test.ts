/** kill -9 at random moments of a collection with faults: restarted each time, it ends with every record exactly once. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { allTables } from '../../src/tables.ts'
import { startFakeJenkins } from '../fake-jenkins/fake-jenkins.ts'
import { generate } from '../fake-jenkins/generate.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { startProgram } from '../support/programs.ts'
import { LAUNCHED, LIKE_A_TASK, MOST_MEGABYTES } from '../support/task-process.ts'
import { connect, differences, gapsOf, stored } from './support/jenkins.ts'

/** FULL_SIZE=true: a hundred kills per engine, spread over the collection of many branches. */
const isFull = process.env.FULL_SIZE === 'true'
const SIZE = isFull
  ? { folders: 1, jobsInFolder: 0, branches: 20, buildsOfJob: 400 }
  : { folders: 1, jobsInFolder: 0, branches: 4, buildsOfJob: 12 }
/** The most pages between two kills. */
const MOST_PAGES = isFull ? 100 : 20
const SCOPE = 'team-1/app'

/** Kills the run a few milliseconds after its `pages`th page, or never if `pages` is undefined. */
async function runChild(url: string, concurrency: number, journal: string, pages?: number) {
  const child = startProgram(
    join(import.meta.dirname, 'support/collect-child.ts'),
    [url, SCOPE, String(concurrency), journal],
    {
      flags: LIKE_A_TASK,
      env: { ...process.env, ...LAUNCHED },
    },
  )
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let seen = 0
  let megabytes = 0
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('peak ')) megabytes = Number(line.slice(5))
    if (!line.startsWith('collect') || ++seen !== pages) continue
    await sleep(Math.random() * 30)
    child.kill('SIGKILL')
  }
  const [code, signal] = await ended
  if (code !== 0 && !signal) throw new Error(`the collection ended with code ${code}`)
  return { isKilled: signal !== null, megabytes }
}

describeEachWithTables('kill -9 while collecting from jenkins', (test) => {
  const cases = [
    { concurrency: 1, lost: 1, kills: isFull ? 100 : 4 },
    // The most pages that may be under way or not yet stored.
    { concurrency: 10, lost: 19, kills: isFull ? 20 : 2 },
  ]
  it.each(cases)(
    'loses at most $lost pages a kill with $concurrency requests at a time, and no record',
    { timeout: 3_600_000 },
    async ({ concurrency, lost, kills }) => {
      await emptyTables(test.database, allTables)
      const folder = mkdtempSync(join(tmpdir(), 'weir-kill-'))
      const journal = join(folder, 'journal')
      writeFileSync(journal, '')
      const fake = await startFakeJenkins()
      const names = generate(fake, SIZE)
      let asked = 0
      let faults = 0
      fake.onRequest = () => {
        if (++asked % 20 !== 0) return
        faults++
        fake.failures.push({ path: '', status: 502 })
      }
      try {
        await connect(test.database, fake.endpoint, SCOPE)
        let killed = 0
        for (; killed < kills; killed++) {
          const pages = 1 + Math.floor(Math.random() * MOST_PAGES)
          if (!(await runChild(test.url, concurrency, journal, pages)).isKilled) break
        }
        // A small project may be read completely before the last kill.
        expect(killed).toBeGreaterThanOrEqual(isFull ? kills : kills / 2)
        const { isKilled, megabytes } = await runChild(test.url, concurrency, journal)
        expect(isKilled).toBe(false)
        expect(megabytes).toBeLessThan(MOST_MEGABYTES)
        expect(await differences(test.database, fake, names)).toEqual({})
        expect(await gapsOf(test.database)).toEqual([])
        const raws = await stored(test.database, '_raw_jenkins_api_builds', 'input_key', 'record_key')
        expect(new Set(raws.map((row) => JSON.stringify(row))).size).toBe(raws.length)
        const again = fake.requests.length - faults - new Set(fake.requests).size
        // A run that continues reads the list of jobs again.
        expect(again).toBeLessThanOrEqual(killed * (lost + 1))
        if (isFull) {
          const told = `${killed} kills, ${fake.requests.length} requests, ${faults} faults, ${again} asked again`
          console.log(`${test.engine}: ${told}, peak ${megabytes} MB after the last`)
        }
      } finally {
        await fake.stop()
        rmSync(folder, { recursive: true })
      }
    },
  )
})
