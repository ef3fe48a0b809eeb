/** Collects 100,000 builds of a multibranch project with their stages, from a Jenkins that takes 50 ms for every answer. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { DEFAULT_CONCURRENCY } from '../../src/plugin-kit/http/index.ts'
import { allTables } from '../../src/tables.ts'
import { connect } from '../../tests/jenkins/support/jenkins.ts'
import { runLikeATask } from '../../tests/support/task-process.ts'
import type { Collected } from './collect-worker.ts'

const FAKE = join(import.meta.dirname, '../../tests/fake-jenkins/main.ts')
const WORKER = join(import.meta.dirname, 'jenkins-worker.ts')
const BUILDS_OF_BRANCH = 1000

export interface JenkinsBench {
  readonly builds: number
  readonly latency: number
  /** An empty database. */
  readonly url: string
}

export async function collectJenkins({ builds, latency, url }: JenkinsBench): Promise<void> {
  const each = Math.min(BUILDS_OF_BRANCH, Math.ceil(builds / DEFAULT_CONCURRENCY))
  const parameters = [Math.ceil(builds / each), each, latency].map(String)
  const fake = spawn(process.execPath, [FAKE, ...parameters], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(fake.stdout)[Symbol.asyncIterator]()
  const told = async () => JSON.parse((await lines.next()).value as string)
  try {
    const { endpoint } = await told()
    const database = await openDatabase(url)
    await migrate(database, allTables)
    await connect(database, endpoint, 'team-1/app')
    await database.close()
    const measure = async (title: string) => {
      const collected = await runLikeATask<Collected>(WORKER, [url])
      fake.stdin.write('\n')
      const { requests } = await told()
      const floor = (requests * latency) / 1000 / DEFAULT_CONCURRENCY
      const { seconds, cpuSeconds, megabytes } = collected
      const cpu = ((cpuSeconds * 1000) / requests).toFixed(2)
      console.log(
        `jenkins, ${title}: ${requests} requests in ${seconds.toFixed(1)} s, least possible ${floor.toFixed(1)} s, CPU ${cpu} ms a request, peak ${megabytes} MB`,
      )
      return { ...collected, requests, ratio: seconds / floor }
    }
    const first = await measure('everything')
    const again = await measure('nothing new')
    console.log(
      `collect: ${Math.round(first.requests / first.seconds)} requests/s (ratio ${first.ratio.toFixed(2)} to the floor, ${builds} builds of Jenkins, ${again.requests} requests for an unchanged second run, peak ${first.megabytes} MB)`,
    )
  } finally {
    fake.stdin.end()
    await once(fake, 'exit')
  }
}
