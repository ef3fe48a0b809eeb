/** Eight sources tolerate records with missing parts or unknown kinds, and servers that refuse. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { messageOf } from '../../src/errors.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { connectionSettings, openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { runTask } from '../convergence/support/run-task.ts'
import type { RunningVendor, VendorUnderTest } from '../convergence/support/vendor-under-test.ts'
import { argocdVendor } from '../convergence/vendors/argocd.ts'
import { azuredevopsVendor } from '../convergence/vendors/azuredevops.ts'
import { bambooVendor } from '../convergence/vendors/bamboo.ts'
import { bitbucketVendor } from '../convergence/vendors/bitbucket.ts'
import { bitbucketServerVendor } from '../convergence/vendors/bitbucket-server.ts'
import { opsgenieVendor } from '../convergence/vendors/opsgenie.ts'
import { pagerdutyVendor } from '../convergence/vendors/pagerduty.ts'
import { sonarqubeVendor } from '../convergence/vendors/sonarqube.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SIGN_IN_PAGE } from '../support/fake-source.ts'
import { type Rewrite, type RewritingProxy, startRewritingProxy } from './rewriting-proxy.ts'

const VENDORS: readonly VendorUnderTest[] = [
  argocdVendor,
  azuredevopsVendor,
  bambooVendor,
  bitbucketVendor,
  bitbucketServerVendor,
  opsgenieVendor,
  pagerdutyVendor,
  sonarqubeVendor,
]
/** The domain tables for these sources' records. A record with problems still makes a row. */
const RECORDS = ['pull_requests', 'issues', 'cicd_pipelines', 'cicd_deployments', 'cq_issues'] as const
/** Parts of the records, which are requested one by one. A refusal must not be mistaken for an empty answer. */
const PARTS = ['pull_request_comments', 'pull_request_commits', 'issue_comments', 'cicd_tasks', 'cq_file_metrics']

const PEOPLE = new Set([
  'author',
  'user',
  'closed_by',
  'reporter',
  'assignee',
  'participants',
  'reviewers',
  'committer',
  'assignments',
  'createdBy',
  'closedBy',
  'requestedFor',
  'requestedBy',
  'System.AssignedTo',
  'System.CreatedBy',
  'responders',
  'incidents_responders',
  'teams',
  'ownerTeam',
  'owner',
  'initiatedBy',
])
const STATES = new Set([
  'state',
  'status',
  'result',
  'System.State',
  'System.WorkItemType',
  'kind',
  'priority',
  'severity',
  'urgency',
  'buildState',
  'deploymentState',
  'deploymentStatus',
  'lifeCycleState',
  'phase',
])
const HOUR = 3_600_000
/** The number of moments of a run at which the scope is deleted. */
const MOMENTS = 5
const UNKNOWN = 'BRAND_NEW'
const WITH_ZONE = /^(\d{4}-\d\d-\d\dT[\d:.]+)(?:Z|[+-]00:?00)$/

const WITHOUT_PEOPLE = 'records without people'
const WITHOUT_ZONE = 'dates without a zone'
const REWRITES: Readonly<Record<string, Rewrite>> = {
  [WITHOUT_PEOPLE]: (key, value) => (PEOPLE.has(key) ? (Array.isArray(value) ? [] : null) : value),
  'unknown states, results and kinds': (key, value) => {
    if (!STATES.has(key)) return value
    if (typeof value === 'string') return UNKNOWN
    return typeof value === 'object' && value !== null && 'name' in value ? { ...value, name: UNKNOWN } : value
  },
  [WITHOUT_ZONE]: (_key, value) => (typeof value === 'string' ? value.replace(WITH_ZONE, '$1') : value),
}
/** A sign-in page may be a temporary fault of a proxy, so it is requested again. One retry proves as much as three. */
process.env.API_RETRY = '1'
const unchanged: Rewrite = (_key, value) => value
const nothing: Rewrite = (key, value) =>
  Array.isArray(value) ? [] : ['total', 'totalCount', 'size', 'count'].includes(key) ? 0 : value

const GONE = 'that everything is gone'
/** Answers that replace every answer, and the expected message. */
const REFUSALS: Readonly<Record<string, readonly [RewritingProxy['instead'], says: RegExp]>> = {
  'a page to sign in with status 200': [
    { status: 200, body: SIGN_IN_PAGE, type: 'text/html' },
    /web page|sign|log in|credentials|token/i,
  ],
  'a page to sign in with status 203': [
    { status: 203, body: SIGN_IN_PAGE, type: 'text/html' },
    /web page|sign|log in|credentials|token/i,
  ],
  'a refusal for lack of rights': [
    { status: 403, body: '{"message":"forbidden"}', type: 'application/json' },
    /403|right|permission|may not|allowed|refuse/i,
  ],
  [GONE]: [
    { status: 404, body: '{"message":"not found"}', type: 'application/json' },
    /gone|not found|404|hidden|answered/i,
  ],
}

describe.each(VENDORS)('$name', (vendor) => {
  const [plugin] = vendor.interfaces
  const source = plugin.source as PluginSpec
  const [scope] = vendor.scopes

  describeOneWithTables(`bad input of ${vendor.name}`, (test) => {
    let running: RunningVendor
    let proxy: RewritingProxy
    let collected: Awaited<ReturnType<typeof records>>
    beforeAll(async () => {
      const time = Date.now() - HOUR
      running = await vendor.start(() => time)
      proxy = await startRewritingProxy(running.server.url)
      const endpoint = String(running.connection.endpoint).replace(running.server.url, proxy.url)
      await write(test.database, [
        settingsTables(source).connections.row({ id: 1, name: 'test', ...running.connection, endpoint }),
        source.scope.table.row({ connection_id: 1, ...scope?.row }),
      ])
      await run()
      collected = await records()
      expect(Object.values(collected).flat()).not.toEqual([])
    })
    beforeEach(() => Object.assign(proxy, { rewrite: unchanged, onRequest: () => {}, instead: undefined }))
    afterAll(async () => {
      await proxy?.stop()
      await running?.stop()
    })

    const run = (fullSync = false) =>
      runTask(test.database, plugin, { connectionId: 1, ...scope?.options }, { fullSync })
    const records = async () => {
      const found: Record<string, unknown[]> = {}
      for (const table of RECORDS) {
        const query = test.database.kysely.selectFrom(table).select(['id', 'created_date']).orderBy('id')
        found[table] = await query.execute()
      }
      return found
    }
    const parts = async () => {
      const counts: Record<string, number> = {}
      for (const table of PARTS) counts[table] = (await column(table, '_raw_data_id')).length
      return counts
    }
    const column = async (table: string, name: string): Promise<string[]> => {
      const rows = await test.database.kysely.selectFrom(table).select(name).execute()
      return rows.map((row) => String(row[name]))
    }

    it.each(Object.keys(REWRITES))('%s are collected like all others', async (name) => {
      let changed = 0
      proxy.rewrite = (key, value) => {
        const other = REWRITES[name]?.(key, value)
        if (other !== value) changed++
        return other
      }
      await run(true)
      // Some servers write dates as numbers, and Bamboo names nobody.
      const isAbsent = name === WITHOUT_ZONE || (name === WITHOUT_PEOPLE && vendor.name === 'bamboo')
      if (!isAbsent) expect(changed).toBeGreaterThan(0)
      expect(await column('_weir_quarantine', 'reason')).toEqual([])
      expect(await records()).toEqual(collected)
    })

    it.each(Object.keys(REFUSALS))('%s is told, and takes nothing away', async (name) => {
      const [instead, says] = REFUSALS[name] as (typeof REFUSALS)[string]
      proxy.instead = instead
      const failure = await run().then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failure).not.toBeInstanceOf(TypeError)
      const told = failure ? [messageOf(failure)] : await column('_weir_gaps', 'reason')
      expect(told.join(' ')).toMatch(says)
      expect(await records()).toEqual(collected)
    })

    it('a scope that is deleted in the middle of a run keeps all that it had, and is told', async () => {
      const [instead] = REFUSALS[GONE] as (typeof REFUSALS)[string]
      let asked = 0
      proxy.onRequest = () => void asked++
      await run(true)
      const before = await parts()
      const steps = Math.min(asked - 1, MOMENTS)
      for (let step = 1; step <= steps; step++) {
        const last = Math.ceil((step * (asked - 1)) / steps)
        let count = 0
        proxy.instead = undefined
        proxy.onRequest = () => {
          if (++count > last) proxy.instead = instead
        }
        const failure = await run(true).then(
          () => undefined,
          (error: unknown) => messageOf(error),
        )
        expect(failure ?? (await column('_weir_gaps', 'reason')).join(' '), `after ${last}`).toMatch(/404/)
        expect(await records(), `after ${last} of ${asked} requests`).toEqual(collected)
        expect(await parts(), `after ${last} of ${asked} requests`).toEqual(before)
      }
    })

    it('an organisation in which there is nothing offers nothing', async () => {
      proxy.rewrite = nothing
      const settings = await connectionSettings(source, 1, test)
      const client = openAwaitedClient(source, settings)
      const listed = await source.scope.remote?.list({ client, settings, signal: AbortSignal.timeout(60_000) })
      await client.close()
      expect(listed).toEqual({ children: [] })
    })
  })
})
