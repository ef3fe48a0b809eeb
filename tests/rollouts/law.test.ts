/**
 * Generated histories in which sources report rollouts twice or more: whatever the tools report, the number that counts is
 * the number that happened. `FULL_SIZE=true` tries thousands.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdPipelineCommits, cicdPipelines } from '../../src/domain/devops.ts'
import { deploymentRuns } from '../../src/domain/rollouts.ts'
import { deploymentFrequency } from '../../src/metrics/definitions/deployment-frequency.ts'
import { DEFAULT_POLICY, type Policy, REFERENCE } from '../../src/metrics/policy/policy.ts'
import { readMetric } from '../../src/metrics/read/read.ts'
import { calculate } from '../metrics/calculate.ts'
import { describeEachWithTables } from '../support/databases.ts'

const HISTORIES = Number(process.env.HISTORIES ?? (process.env.FULL_SIZE === 'true' ? 2000 : 25))
const MINUTE = 60_000
const START = Date.UTC(2024, 0, 1)

/** Tools that may report a rollout, besides the host of the repository. */
const OTHERS = ['webhook:1', 'argocd:ArgocdApplication:1:web', 'jenkins:JenkinsJob:1:web'] as const
const SPELLINGS = ['https://code.example/acme/R', 'https://code.example/acme/R.git', 'git@code.example:acme/R.git']

const rollout = fc.record({
  repository: fc.constantFrom('web', 'api'),
  commit: fc.constantFrom('c1', 'c2', 'c3'),
  environment: fc.constantFrom('PRODUCTION', 'PRODUCTION', 'STAGING'),
  result: fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE'),
  /** The minutes that it takes, and the minutes until the next begins. The pause is longer than any tool's delay. */
  length: fc.integer({ min: 1, max: 40 }),
  pause: fc.integer({ min: 15, max: 600 }),
  /** The host's reports: the places of one environment that its run deployed to, each with a separate deployment. */
  places: fc.constantFrom(0, 1, 1, 2),
  hasRun: fc.boolean(),
  isLinked: fc.boolean(),
  /** Whether rules treat the run as a production run, although it deployed elsewhere. */
  isMistaken: fc.boolean(),
  others: fc.uniqueArray(fc.constantFrom(...OTHERS), { maxLength: 3 }),
  late: fc.integer({ min: 0, max: 4 }),
  spelling: fc.constantFrom(...SPELLINGS),
})
type Rollout = typeof rollout extends fc.Arbitrary<infer Value> ? Value : never

interface Planted {
  readonly rows: readonly TableRow[]
  /** The number of successful rollouts to production. */
  readonly truth: number
  /** The number of rows that report one. */
  readonly told: number
}

function plant(history: readonly Rollout[], prefix: string): Planted {
  const rows: TableRow[] = []
  let [now, truth, told] = [START, 0, 0]
  for (const [index, each] of history.entries()) {
    const [begin, end] = [now, now + each.length * MINUTE]
    now = end + each.pause * MINUTE
    const scope = `${prefix}host:Repo:1:${each.repository}`
    const url = each.spelling.replace('R', each.repository)
    const isGood = each.result === 'SUCCESS' && each.environment === 'PRODUCTION'
    // With two places, no other tool reports which of them it saw.
    const others = each.places > 1 ? [] : each.others
    const deployment = (id: string, of: string, from: number, to: number) => {
      told += Number(isGood)
      const dates = { created_date: new Date(from), started_date: new Date(from), finished_date: new Date(to) }
      const { environment, result } = each
      return cicdDeploymentCommits.row({
        id,
        cicd_deployment_id: id,
        cicd_scope_id: of,
        commit_sha: each.commit,
        repo_url: url,
        environment,
        result,
        name: id,
        _raw_data_table: `_raw_${of}`,
        ...dates,
      })
    }
    const runId = `${prefix}run ${index}`
    for (let place = 0; place < each.places; place++) {
      const id = `${prefix}deployment ${index} ${place}`
      rows.push(deployment(id, scope, begin, end))
      if (each.isLinked) rows.push(deploymentRuns.row({ deployment_id: id, pipeline_id: runId }))
    }
    const isMistaken = each.isMistaken && each.isLinked && each.places > 0 && each.environment === 'STAGING'
    if (each.hasRun) {
      const environment = isMistaken ? 'PRODUCTION' : each.environment
      told += Number(environment === 'PRODUCTION' && each.result === 'SUCCESS')
      rows.push(
        cicdPipelines.row({
          id: runId,
          cicd_scope_id: scope,
          type: 'DEPLOYMENT',
          environment,
          result: each.result,
          name: 'deploy',
          created_date: new Date(begin),
          started_date: new Date(begin),
          finished_date: new Date(end + MINUTE),
          duration_sec: 60,
        }),
        cicdPipelineCommits.row({ pipeline_id: runId, commit_sha: each.commit, repo_url: url }),
      )
    }
    for (const other of others) {
      const late = each.late * MINUTE
      rows.push(deployment(`${prefix}${other} ${index}`, `${prefix}${other}`, end + late, end + late))
    }
    const isSeen = each.places > 0 || each.hasRun || others.length > 0
    truth += isGood && isSeen ? Math.max(1, each.places) : 0
  }
  return { rows, truth, told }
}

describeEachWithTables('rollouts that several tools tell of', (test) => {
  it('count as often as they happened, whenever what arrived', { timeout: 3_600_000 }, async () => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(rollout, { minLength: 1, maxLength: 12 }), fc.nat(), async (history, cut) => {
        const project = `project ${++number}`
        const { rows, truth, told } = plant(history, `${number} `)
        const scopes = new Set(
          ['web', 'api']
            .map((name) => `${number} host:Repo:1:${name}`)
            .concat(OTHERS.map((name) => `${number} ${name}`)),
        )
        await write(
          test.database,
          [...scopes].map((row_id) => projectMapping.row({ project_name: project, table: 'cicd_scopes', row_id })),
        )
        const early = rows.slice(0, cut % (rows.length + 1))
        await write(test.database, early)
        await calculate(test.database, project)
        await write(test.database, rows.slice(early.length))
        await calculate(test.database, project)
        const counted = async (policy: Policy) => {
          const range = { from: new Date(START), to: new Date(START + 366 * 24 * 60 * MINUTE) }
          const filter = { project, environment: 'PRODUCTION', policy, ...range }
          return (await readMetric(test.database, deploymentFrequency, filter)).counted
        }
        expect({ once: await counted(DEFAULT_POLICY), rows: await counted(REFERENCE) }).toEqual({
          once: truth,
          rows: told,
        })
        // The stored rollouts, which other tools' statements read, give the same number.
        expect(await counted({ ...DEFAULT_POLICY, rollouts: 'as-stored' })).toBe(truth)
      }),
      { numRuns: HISTORIES, endOnFailure: false },
    )
  })
})
