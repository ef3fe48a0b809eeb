/** Rules that every source with runs on branches, and every tracker, has: production by branch, and incidents by text. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { branchName } from '../../src/domain/deliveries.ts'
import { cicdPipelines, cicdTasks } from '../../src/domain/devops.ts'
import { issues } from '../../src/domain/ticket.ts'
import { decideRules } from '../../src/metrics/decide-rules.ts'
import { REFERENCE } from '../../src/metrics/policy.ts'
import { previewRules } from '../../src/metrics/preview.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { plugins } from '../../src/plugins/index.ts'
import { allTables } from '../../src/tables.ts'
import { runTask } from '../convergence/support/run-task.ts'
import type { RunningVendor, VendorUnderTest } from '../convergence/support/vendor-under-test.ts'
import { azuredevopsVendor } from '../convergence/vendors/azuredevops.ts'
import { bitbucketVendor } from '../convergence/vendors/bitbucket.ts'
import { circleciVendor } from '../convergence/vendors/circleci.ts'
import { githubVendor } from '../convergence/vendors/github.ts'
import { gitlabVendor } from '../convergence/vendors/gitlab.ts'
import { jenkinsVendor } from '../convergence/vendors/jenkins.ts'
import { jiraVendor } from '../convergence/vendors/jira.ts'
import { describeEachDatabase, type TestDatabase } from '../support/databases.ts'
import { type RewritingProxy, startRewritingProxy } from './rewriting-proxy.ts'

/** Of fakes whose runs are mostly on the main branch: the number or id of a run in a record, and how it names another branch. */
const ELSEWHERE: Readonly<
  Record<
    string,
    { readonly number: (record: any) => number | string | undefined; readonly on: (branch: string) => object }
  >
> = {
  azuredevops_go: {
    number: ({ sourceBranch, id }) => sourceBranch && id,
    on: (branch) => ({ sourceBranch: `refs/heads/${branch}` }),
  },
  bitbucket: {
    number: ({ target, uuid }) => target?.ref_name && uuid,
    on: (branch) => ({ target: { ref_name: branch, commit: { hash: 'a'.repeat(40) } } }),
  },
  circleci: {
    number: ({ vcs, number }) => vcs?.branch && number,
    on: (branch) => ({ vcs: { revision: 'a'.repeat(40), branch, commit: {} } }),
  },
  gitlab: {
    number: ({ ref, id, pipeline }) => ref && (pipeline?.id ?? id),
    on: (branch) => ({ ref: branch }),
  },
  jenkins: {
    number: ({ actions, number }) => actions && number,
    on: (branch) => ({
      actions: [
        {
          lastBuiltRevision: { SHA1: 'a'.repeat(40), branch: [{ name: `refs/remotes/origin/${branch}` }] },
          remoteUrls: ['https://code.example.com/shop'],
        },
      ],
    }),
  },
}
/** What a fake needs more of. */
const MORE: Readonly<Record<string, readonly (readonly [change: string, count: number])[]>> = {
  bitbucket: [
    ['start pipeline', 6],
    ['finish pipeline', 9],
  ],
  jenkins: [['run build', 24]],
}
const WITH_RUNS = [azuredevopsVendor, bitbucketVendor, circleciVendor, githubVendor, gitlabVendor, jenkinsVendor]
const WITH_ISSUES = [azuredevopsVendor, bitbucketVendor, githubVendor, gitlabVendor, jiraVendor]
/** Sources with patterns of deployments whose runs tell no branch, and why. */
const WITHOUT_BRANCHES: Readonly<Record<string, string>> = {
  argocd: 'syncs deploy what an application points to',
  bamboo: 'results of a plan tell commits, and no branch',
}

describe('every source', () => {
  const sources = plugins.flatMap(({ source }) => (source && !source.settingsOf ? [source] : []))
  const converting = ({ entities }: PluginSpec, table: unknown) =>
    entities.filter(({ spec }) => spec.convert?.to.includes(table as never))

  it('that has patterns of deployments has one of branches, or tells none', () => {
    const lacking = sources
      .filter(({ scopeConfig: { fields } }) => 'deploymentPattern' in fields && !('productionBranchPattern' in fields))
      .map(({ name }) => name)
    expect(lacking.sort()).toEqual(Object.keys(WITHOUT_BRANCHES).sort())
    for (const source of sources.filter(({ scopeConfig: { fields } }) => 'productionBranchPattern' in fields)) {
      expect(WITH_RUNS.map(({ interfaces: [plugin] }) => plugin.name)).toContain(source.name)
      for (const { table, spec } of [cicdPipelines, cicdTasks].flatMap((each) => converting(source, each))) {
        // What looks only at new rows must look at all when the rule changes.
        const fields = [...(spec.extract?.dependsOn ?? []), ...(spec.convert?.dependsOn ?? [])]
        if (spec.convert?.isIncremental) expect(fields, table.name).toContain('productionBranchPattern')
      }
    }
  })

  it('that is a tracker has a rule about text', () => {
    // The rest tells incidents alone.
    const trackers = sources.filter((source) => converting(source, issues).length > 0)
    const lacking = trackers.filter(({ scopeConfig: { fields } }) => !('issueTextIncident' in fields))
    expect(lacking.map(({ name }) => name).sort()).toEqual(['opsgenie', 'pagerduty'])
    const tested = WITH_ISSUES.map(({ interfaces: [plugin] }) => plugin.name)
    for (const { name } of trackers.filter((each) => !lacking.includes(each))) expect(tested).toContain(name)
  })
})

const project = 'shop'
const HOUR = 3_600_000

function collected(vendor: VendorUnderTest, test: TestDatabase) {
  const [plugin] = vendor.interfaces
  const source = plugin.source as PluginSpec
  const settings = source.settingsOf ?? source
  // The branches of a multibranch project are those of its jobs' names.
  const scopes = vendor === jenkinsVendor ? vendor.scopes.slice(1) : vendor.scopes.slice(0, 2)
  let running: RunningVendor
  let proxy: RewritingProxy | undefined
  beforeAll(async () => {
    await migrate(test.database, allTables)
    const time = Date.now() - HOUR
    running = await vendor.start(() => time)
    for (const [name, count] of MORE[plugin.name] ?? []) {
      for (let each = 0; each < count; each++) running.change(name, [each, 0])
    }
    const elsewhere = ELSEWHERE[plugin.name]
    let { endpoint } = running.connection
    if (elsewhere) {
      const branches = new Map<number | string, string>()
      proxy = await startRewritingProxy(running.server.url)
      proxy.rewrite = (_key, value) => {
        const number = value !== null && typeof value === 'object' ? elsewhere.number(value) : undefined
        if (!number) return value
        // By turns, and always the same for the same run.
        branches.set(number, branches.get(number) ?? (branches.size % 2 === 0 ? 'main' : 'feature/x'))
        return { ...value, ...elsewhere.on(branches.get(number) as string) }
      }
      endpoint = String(endpoint).replace(running.server.url, proxy.url)
    }
    await write(test.database, [
      settingsTables(settings).connections.row({ id: 1, name: 'test', ...running.connection, endpoint } as never),
      ...scopes.map(({ row }) => source.scope.table.row({ connection_id: 1, ...row } as never)),
    ])
  })
  afterAll(async () => {
    await proxy?.stop()
    await running?.stop()
  })
  const rows = async (statement: string): Promise<any[]> =>
    (await sql.raw(statement).execute(test.database.kysely)).rows as any[]
  let inForce: object = {}
  return {
    rows,
    async run(rules: object) {
      for (const { options } of scopes) {
        await runTask(test.database, plugin, { connectionId: 1, ...options, scopeConfig: rules })
      }
      inForce = rules
    },
    /** The preview knows that these were the last rules. */
    async effects(rules: object, table: 'cicd_scopes' | 'boards') {
      const ids = await rows(
        table === 'boards'
          ? 'select distinct board_id as id from board_issues'
          : 'select distinct cicd_scope_id as id from cicd_pipelines',
      )
      await write(
        test.database,
        ids.map(({ id }) => projectMapping.row({ project_name: project, table, row_id: id })),
      )
      const fields = Object.fromEntries(Object.keys(settings.scopeConfig.fields).map((name) => [name, null]))
      const known = {
        rules: { ...fields, ...inForce },
        isAllProduction: settings.scopeConfig.fields.productionPattern?.isAllWhenEmpty === true,
      }
      const range = { from: new Date(0), to: new Date(), project, environment: 'PRODUCTION', policy: REFERENCE }
      const { effects } = await previewRules(test.database, range as never, rules, {
        signal: AbortSignal.timeout(60_000),
        inForce: new Map(ids.map(({ id }) => [id, known])),
        decide: async (...rows) => decideRules(...rows),
      })
      return (rule: string) => {
        const { matching = 0, starting = 0, stopping = 0 } = effects.find((each) => each.rule === rule) ?? {}
        return { matching, starting, stopping }
      }
    },
  }
}

describe.each(WITH_RUNS)('$name', (vendor) => {
  describeEachDatabase('production by branch', (test) => {
    const { run, rows, effects } = collected(vendor, test)
    const runs = async () => {
      const commits = await rows('select pipeline_id, branch from cicd_pipeline_commits')
      const byRun = Map.groupBy(commits, ({ pipeline_id }) => pipeline_id)
      const isOnMain = (id: string) => {
        const branches = (byRun.get(id) ?? []).map(({ branch }) => branchName(branch ?? ''))
        return branches.length > 0 && branches.every((branch) => branch === 'main')
      }
      const columns = 'id, name, type, environment'
      return {
        // A run without jobs of its own is its only job, too.
        pipelines: (
          await rows(`select ${columns} from cicd_pipelines
            union all select ${columns} from cicd_tasks where id = pipeline_id order by id, name`)
        ).map((each) => ({ ...each, isOnMain: isOnMain(each.id) })),
        jobs: (await rows(`select ${columns}, pipeline_id from cicd_tasks where id <> pipeline_id order by id`)).map(
          (each) => ({ ...each, isOnMain: isOnMain(each.pipeline_id) }),
        ),
      }
    }
    const production = ({ type, environment }: any) => type === 'DEPLOYMENT' && environment === 'PRODUCTION'
    let before: Awaited<ReturnType<typeof runs>>

    it('every run on the branch deploys to production, and no other', { timeout: 120_000 }, async () => {
      await run({})
      before = await runs()
      expect(new Set(before.pipelines.map(({ isOnMain }) => isOnMain))).toEqual(new Set([true, false]))
      expect(before.pipelines.filter(production)).toEqual([])
      const rules = { productionBranchPattern: '^main$' }
      const told = (await effects(rules, 'cicd_scopes'))('productionBranchPattern')
      await run(rules)
      const { pipelines, jobs } = await runs()
      for (const each of pipelines) expect(production(each), JSON.stringify(each)).toBe(each.isOnMain)
      expect(jobs.filter(({ type }) => type !== '')).toEqual([])
      const count = pipelines.filter(production).length
      expect(told).toEqual({ matching: count, starting: count, stopping: 0 })
    })

    it('a job deploys to production by its name on the branch of its run', { timeout: 120_000 }, async () => {
      const names = [true, false].map(
        (isHere) => before.jobs.find(({ isOnMain }) => isOnMain === isHere)?.name as string,
      )
      const deploys = ({ name }: { readonly name: string }) => names.includes(name)
      const deploymentPattern = `^(${names.map((name) => name.replace(/\W/g, '\\$&')).join('|')})$`
      const rules = { deploymentPattern, productionBranchPattern: '^main$' }
      const told = (await effects(rules, 'cicd_scopes'))('productionBranchPattern')
      await run(rules)
      const { jobs, pipelines } = await runs()
      for (const each of jobs.filter(deploys)) {
        const environment = each.isOnMain ? 'PRODUCTION' : ''
        expect([each.type, each.environment], JSON.stringify(each)).toEqual(['DEPLOYMENT', environment])
      }
      expect(new Set(jobs.filter(deploys).map(({ isOnMain }) => isOnMain))).toEqual(new Set([true, false]))
      expect(jobs.filter((job) => !deploys(job) && production(job))).toEqual([])
      const now = pipelines.filter(production)
      expect(told.matching).toBe(jobs.filter(production).length + now.length)
      expect(told.stopping).toBe(before.pipelines.filter(({ isOnMain }) => isOnMain).length - now.length)
    })

    it('without the rule everything is as before', { timeout: 120_000 }, async () => {
      await run({})
      expect(await runs()).toEqual(before)
    })
  })
})

describe.each(WITH_ISSUES)('$name', (vendor) => {
  describeEachDatabase('incidents by text', (test) => {
    const { run, rows, effects } = collected(vendor, test)
    const read = () => rows('select id, type, title, description from issues order by id')
    const COUNTED = ['REQUIREMENT', 'BUG', 'INCIDENT']
    const label =
      vendor === jiraVendor ? { typeMappings: { Bug: { standardType: 'BUG' } } } : { issueTypeBug: '(?i)bug' }
    let before: any[]

    it('an issue whose title or description matches is one, unless it is told what it is', {
      timeout: 120_000,
    }, async () => {
      await run(label)
      before = await read()
      const open = before.filter(({ type }) => !COUNTED.includes(type) && type !== 'SUBTASK')
      expect(open.length).toBeGreaterThan(1)
      // One by its title, and another one by its description.
      const escaped = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '\\$&')
      const body = open.find(({ description }) => description)?.description.slice(0, 40)
      const issueTextIncident = [open[0].title, ...(body ? [body] : [])].map(escaped).join('|')
      const rules = { ...label, issueTextIncident }
      const told = (await effects(rules, 'boards'))('issueTextIncident')
      await run(rules)
      const after = await read()
      const matched = new RegExp(issueTextIncident)
      const expected = before.map((issue) =>
        open.includes(issue) && [issue.title, issue.description ?? ''].some((text) => matched.test(text))
          ? { ...issue, type: 'INCIDENT' }
          : issue,
      )
      expect(after).toEqual(expected)
      const changed = after.filter(({ type }, index) => type !== before[index].type).length
      expect(changed).toBeGreaterThan(0)
      expect(told).toEqual({ matching: changed, starting: changed, stopping: 0 })
      const without = (await effects({ issueTextIncident: '' }, 'boards'))('issueTextIncident')
      expect(without).toEqual({ matching: 0, starting: 0, stopping: changed })
    })

    it('without the rule everything is as before', { timeout: 120_000 }, async () => {
      await run(label)
      expect(await read()).toEqual(before)
    })
  })
})
