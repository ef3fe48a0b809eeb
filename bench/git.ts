/**
 * The history of a generated repository, through the plugin into PostgreSQL, compared with `git log` on the same clone in the
 * same run: without file statistics, with line counts per commit, and with a row for each changed file.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { allTables } from '../src/tables.ts'
import { startTestPostgres, type TestServer } from '../tests/support/servers.ts'
import { runLikeATask } from '../tests/support/task-process.ts'
import { generateRepository } from './support/git-repository.ts'
import { plainCopy } from './support/plain-copy.ts'

/** Each kind of clone has a separate repository: one without files, as the plugin clones it for commits alone, and one with files. */
const PARTS = {
  commits: { options: { repoId: 'bench:Repo:1:1', skipCommitStat: true }, log: [] as string[] },
  'line counts': { options: { repoId: 'bench:Repo:1:2', skipCommitFiles: true }, log: ['--numstat'] },
  files: { options: { repoId: 'bench:Repo:1:2', skipCommitFiles: false }, log: ['--numstat'] },
}
type Part = keyof typeof PARTS

interface Measured {
  readonly seconds: Readonly<Record<string, number>>
  readonly rows: number
  readonly megabytes: number
  readonly load: number
}

interface Place {
  readonly server: TestServer
  readonly dataFolder: string
  readonly repository: string
}

/** The tables that hold the history itself. */
const TABLES = ['commits', 'repo_commits', 'commit_parents']

/** Seconds that PostgreSQL needs to load exactly these rows by COPY, whoever sends them. */
async function loadPlainly(url: string, folder: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const load = await plainCopy(client, TABLES, folder)
    const started = performance.now()
    await load()
    return (performance.now() - started) / 1000
  } finally {
    await client.end()
  }
}

/** Runs in a separate process and database, so that memory and tables are those of the work alone. */
async function measure({ server, dataFolder, repository }: Place, options: object, names: string[]): Promise<Measured> {
  const url = await server.createDatabase()
  const database = await openDatabase(url)
  await migrate(database, allTables)
  await database.close()
  const worker = join(import.meta.dirname, 'support/git-worker.ts')
  const task = { url: `file://${repository}`, ...options }
  const environment = { TZ: 'UTC', DATA_FOLDER: dataFolder, GIT_ALLOW_LOCAL: 'true' }
  const report = await runLikeATask<Measured>(worker, [url, JSON.stringify(task), ...names], environment)
  const load = await loadPlainly(url, dataFolder)
  await server.dropDatabase(url)
  return { ...report, load }
}

function gitLog(clone: string, parameters: readonly string[]): number {
  const started = performance.now()
  const { status } = spawnSync('git', [`--git-dir=${clone}`, 'log', '--all', ...parameters], { stdio: 'ignore' })
  if (status !== 0) throw new Error(`git log ended with ${status}`)
  return (performance.now() - started) / 1000
}

const READING = ['Collect Commits', 'Collect Branches', 'Collect Tags']
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0)

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: { commits: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '3' } },
  })
  const commits = Number(values.commits)
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-git-'))
  const server = await startTestPostgres()
  try {
    const place = { server, dataFolder: join(folder, 'data'), repository: join(folder, 'origin.git') }
    let started = performance.now()
    const said = (text: string) => {
      console.log(`${text}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
      started = performance.now()
    }
    await generateRepository(place.repository, commits)
    said(`${commits} commits generated`)
    const homes = join(place.dataFolder, 'git')
    mkdirSync(homes, { recursive: true })
    /** Clones by the id of their repository. */
    const clones = new Map<string, string>()
    for (const { options } of Object.values(PARTS)) {
      if (clones.has(options.repoId)) continue
      const before = readdirSync(homes)
      const { seconds } = await measure(place, options, ['Clone Git Repo'])
      const [home = ''] = readdirSync(homes).filter((name) => !before.includes(name))
      clones.set(options.repoId, join(homes, home, 'clone.git'))
      console.log(`clone ${JSON.stringify(options)}: ${seconds['Clone Git Repo']?.toFixed(1)} s`)
    }

    const best = {} as Record<Part, { product: number; rows: number; load: number }>
    /** The best times of git log, by its parameters: parts with the same parameters share the best try. */
    const floors = new Map<string, number>()
    let megabytes = 0
    // Tries of one part are spread over the rounds, so that a busy moment of the machine does not hit all of them.
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [part, { options, log }] of Object.entries(PARTS) as [Part, (typeof PARTS)[Part]][]) {
        const floor = gitLog(clones.get(options.repoId) as string, log)
        floors.set(log.join(), Math.min(floor, floors.get(log.join()) ?? floor))
        const measured = await measure(place, options, READING)
        const product = sum(Object.values(measured.seconds))
        console.log(`${part}: git log ${floor.toFixed(2)} s, plugin ${product.toFixed(2)} s, ${measured.megabytes} MB`)
        best[part] = {
          product: Math.min(product, best[part]?.product ?? product),
          rows: measured.rows,
          load: Math.min(measured.load, best[part]?.load ?? measured.load),
        }
        megabytes = Math.max(megabytes, measured.megabytes)
      }
    }
    const ratio = (part: Part) => (best[part].product / (floors.get(PARTS[part].log.join()) as number)).toFixed(2)
    const speed = (part: Part) => Math.round(commits / best[part].product)
    const worst = (['commits', 'line counts'] as const).reduce((one, other) =>
      Number(ratio(one)) >= Number(ratio(other)) ? one : other,
    )
    for (const part of Object.keys(PARTS) as Part[]) {
      console.log(`git ${part}: ${speed(part)} commits/s, ${best[part].rows} rows, ratio ${ratio(part)}`)
    }
    const both = (floors.get('') as number) + best.commits.load
    console.log(
      `git commits: COPY alone takes ${best.commits.load.toFixed(2)} s for the same rows; ratio ${(best.commits.product / both).toFixed(2)} to git log and that`,
    )
    console.log(
      `git: ${speed('commits')} commits/s without and ${speed('line counts')} with file statistics (ratio ${ratio(worst)} to git log for ${worst}, ${ratio('commits')} without and ${ratio('line counts')} with, peak ${megabytes} MB)`,
    )
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
