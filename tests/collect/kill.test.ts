/** kill -9 at random moments of a collection: restarted each time, it ends with every record exactly once. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import type { Subtask } from '../../src/plugin-kit/spec/subtask.ts'
import { collectorLatestState } from '../../src/system/state.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import { LAUNCHED, LIKE_A_TASK, MOST_MEGABYTES } from '../support/task-process.ts'
import { CODE_HOST_NAMES, CODE_HOSTS, type CodeHostName, type Size } from './support/code-hosts.ts'
import { doubled, emptyGithub } from './support/github.ts'

/** FULL_SIZE=true: a hundred kills per engine, spread over the collection of the issue's repository. */
const isFull = process.env.FULL_SIZE === 'true'
const SIZE: Size = isFull
  ? { changes: 2000, issues: 3000, runs: 5000, jobs: 4, others: 300, users: 30 }
  : { changes: 12, issues: 110, runs: 12, others: 3 }

/** The most pages between two kills. The full size has so many that a hundred kills reach far into the run. */
const MOST_PAGES = isFull ? 150 : 20

interface Ended {
  readonly isKilled: boolean
  /** The peak memory. Only a run that completed reports it. */
  readonly megabytes: number
}

interface Running {
  readonly host: CodeHostName
  readonly url: string
  readonly concurrency: number
  readonly journal: string
}

/** Kills the run a few milliseconds after its `pages`th page, or never if `pages` is undefined. */
async function runChild({ host, url, concurrency, journal }: Running, pages?: number): Promise<Ended> {
  const child = startProgram(
    join(import.meta.dirname, 'support/collect-child.ts'),
    [host, url, String(concurrency), journal],
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
    if (!line.startsWith('Collect') || ++seen !== pages) continue
    await sleep(Math.random() * 30)
    child.kill('SIGKILL')
  }
  const [code, signal] = await ended
  if (code !== 0 && !signal) throw new Error(`the collection ended with code ${code}`)
  return { isKilled: signal !== null, megabytes }
}

/** Tells whether the collector that was killed had stored its end, but not yet its name in the journal. It then runs again. */
async function isRepeated({ kysely }: Database, { host, journal }: Running): Promise<boolean> {
  const finished = readFileSync(journal, 'utf8').split('\n')
  const { alike, atOnce } = CODE_HOSTS[host]
  const left = ({ name, step }: Subtask) => step !== 'convert' && !alike.includes(name) && !finished.includes(name)
  const killed = atOnce(1).subtasks.find(left)
  if (killed?.step !== 'collect') return false
  const states = await kysely.selectFrom(collectorLatestState.name).select('raw_data_table').execute()
  return states.some(({ raw_data_table }) => killed.writes.includes(raw_data_table))
}

describeEachWithTables('kill -9 while collecting', (test) => {
  const cases = [
    { concurrency: 1, lost: 1, kills: isFull ? 100 : 4 },
    // The most pages that may be under way or not yet stored.
    { concurrency: 10, lost: 19, kills: isFull ? 20 : 2 },
  ]
  describe.each(CODE_HOST_NAMES)('from %s', (host) => {
    it.each(cases)(
      'loses at most $lost pages a kill with $concurrency requests at a time, and no record',
      { timeout: 3_600_000 },
      async ({ concurrency, lost, kills }) => {
        await emptyGithub(test.database)
        const folder = mkdtempSync(join(tmpdir(), 'weir-kill-'))
        const running = { host, url: test.url, concurrency, journal: join(folder, 'journal') }
        writeFileSync(running.journal, '')
        const faults = { every: isFull ? 50 : 20, kinds: ['bad-gateway', 'cut-off', 'malformed-json'] as const }
        const fake = await CODE_HOSTS[host].spawn(SIZE, { faults })
        try {
          await fake.connect(test.database)
          let killed = 0
          let repeated = 0
          for (; killed < kills; killed++) {
            const pages = 1 + Math.floor(Math.random() * MOST_PAGES)
            if (!(await runChild(running, pages)).isKilled) break
            if (await isRepeated(test.database, running)) repeated++
          }
          // A small repository may be read completely before the last kill.
          expect(killed).toBeGreaterThanOrEqual(isFull ? kills : kills / 2)
          const { isKilled, megabytes } = await runChild(running)
          expect(isKilled).toBe(false)
          expect(megabytes).toBeLessThan(MOST_MEGABYTES)
          expect(await fake.differences(test.database)).toEqual({})
          expect(await doubled(test.database)).toEqual([])
          const { requests, violations } = await fake.state()
          expect(violations).toEqual([])
          const pages = requests.entries.filter(({ status, fault }) => status === 200 && !fault).map(({ url }) => url)
          const again = pages.length - new Set(pages).size
          // A collector that runs again asks for each of its pages once more, and for none of the others.
          expect(again).toBeLessThanOrEqual((killed - repeated) * lost + repeated * new Set(pages).size)
          if (isFull) {
            console.log(
              `${test.engine} ${host}: ${killed} kills, ${pages.length} pages, ${again} fetched again, ${repeated} collectors repeated, peak ${megabytes} MB after the last`,
            )
          }
        } finally {
          await fake.stop()
          rmSync(folder, { recursive: true })
        }
      },
    )
  })
})
