/** Tries and saves rules of a source, with rows collected from its fake, a project, and its preview. */
import { sql } from 'kysely'
import { afterAll, beforeAll } from 'vitest'
import { rulesInForce, scopeRulesOf, transformWith } from '../../src/control-plane/scopes/rules-in-force.ts'
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { reworkRate } from '../../src/metrics/definitions/rework-rate.ts'
import { fourKeys } from '../../src/metrics/index.ts'
import { REFERENCE } from '../../src/metrics/policy/policy.ts'
import { previewRules } from '../../src/metrics/preview/preview.ts'
import { readMetric } from '../../src/metrics/read/read.ts'
import { columnOf } from '../../src/plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { scopeKey } from '../../src/plugin-kit/task/source-task.ts'
import { plugins } from '../../src/plugins/index.ts'
import { blueprintScopes, blueprints } from '../../src/system/projects.ts'
import { runTask } from '../convergence/support/run-task.ts'
import type { RunningVendor, VendorUnderTest } from '../convergence/support/vendor-under-test.ts'
import { calculate } from '../metrics/calculate.ts'
import type { TestDatabase } from '../support/databases.ts'
import { type RewritingProxy, startRewritingProxy } from './rewriting-proxy.ts'

const PROJECT = 'shop'
const HOUR = 3_600_000

export interface Trial {
  /** Additional changes that a fake needs, with their numbers. */
  readonly more: readonly (readonly [change: string, count: number])[]
  /** For fakes whose runs are mostly on the main branch: finds the number or id of a run in a record, and names another branch. */
  readonly elsewhere:
    | { readonly number: (record: any) => number | string | undefined; readonly on: (branch: string) => object }
    | undefined
  readonly scopes: VendorUnderTest['scopes']
}

export function rulesOnTrial(vendor: VendorUnderTest, test: TestDatabase, { more, elsewhere, scopes }: Trial) {
  const [plugin] = vendor.interfaces
  const source = plugin.source as PluginSpec
  const settings = source.settingsOf ?? source
  const { connections, scopeConfigs } = settingsTables(settings)
  const { fields } = settings.scopeConfig
  let running: RunningVendor
  let proxy: RewritingProxy | undefined
  let saved: Record<string, unknown> = {}
  beforeAll(async () => {
    const time = Date.now() - HOUR
    running = await vendor.start(() => time)
    for (const [name, count] of more) for (let each = 0; each < count; each++) running.change(name, [each, 0])
    let { endpoint } = running.connection
    if (elsewhere) {
      const branches = new Map<number | string, string>()
      proxy = await startRewritingProxy(running.server.url)
      proxy.rewrite = (_key, value) => {
        const number = value !== null && typeof value === 'object' ? elsewhere.number(value) : undefined
        if (!number) return value
        // Branches alternate between runs, and are always the same for the same run.
        branches.set(number, branches.get(number) ?? (branches.size % 2 === 0 ? 'main' : 'feature/x'))
        return { ...value, ...elsewhere.on(branches.get(number) as string) }
      }
      endpoint = String(endpoint).replace(running.server.url, proxy.url)
    }
    await write(test.database, [
      connections.row({ id: 1, name: 'test', ...running.connection, endpoint } as never),
      ...scopes.map(({ row }) => source.scope.table.row({ connection_id: 1, scope_config_id: 1, ...row } as never)),
      blueprints.row({ id: 1, name: PROJECT, project_name: PROJECT, mode: 'NORMAL' } as never),
      ...scopes.map(({ row }) =>
        blueprintScopes.row({
          blueprint_id: 1,
          plugin_name: settings.name,
          connection_id: 1,
          scope_id: String((row as Record<string, unknown>)[scopeKey(source)]),
        }),
      ),
    ])
  })
  afterAll(async () => {
    await proxy?.stop()
    await running?.stop()
  })
  const rowsIn = async ({ kysely }: Database, statement: string): Promise<any[]> =>
    (await sql.raw(statement).execute(kysely)).rows as any[]
  const rows = (statement: string) => rowsIn(test.database, statement)

  /** Returns every row that rules affect. */
  const decided = async (database: Database) => ({
    issues: await rowsIn(database, 'select id, type from issues order by id'),
    runs: await rowsIn(database, 'select id, type, environment from cicd_pipelines order by id'),
    jobs: await rowsIn(database, 'select id, type, environment from cicd_tasks order by id'),
    deployments: await rowsIn(
      database,
      `select id, environment from cicd_deployments where coalesce(subtask_name, '') = '' order by id`,
    ),
  })
  const range = { from: new Date(0), to: new Date(), project: PROJECT, environment: 'PRODUCTION', policy: REFERENCE }

  async function save(rules: Record<string, unknown>): Promise<void> {
    const columns = Object.entries(fields).map(([name, field]) => [columnOf(name, field), rules[name] ?? null])
    await write(test.database, [
      scopeConfigs.row({
        id: 1,
        connection_id: 1,
        name: 'rules',
        entities: [],
        ...Object.fromEntries(columns),
      } as never),
    ])
    saved = rules
  }

  return {
    fields,
    rows,
    decided: () => decided(test.database),
    /** Saves the rules, and runs the tasks of all scopes. */
    async run(rules: Record<string, unknown>) {
      await save(rules)
      for (const { options } of scopes) await runTask(test.database, plugin, { connectionId: 1, ...options })
    },
    saved: () => saved,
    async keys() {
      await calculate(test.database, PROJECT)
      const keys = []
      for (const metric of [...fourKeys, reworkRate]) keys.push(await readMetric(test.database, metric, range as never))
      return keys
    },
    async preview(rules: object) {
      const boards = await rows('select distinct board_id as id from board_issues')
      const runs = await rows('select distinct cicd_scope_id as id from cicd_pipelines')
      const mapping = (table: string, found: readonly any[]) =>
        found.map(({ id }) => projectMapping.row({ project_name: PROJECT, table, row_id: id }))
      await write(test.database, [...mapping('boards', boards), ...mapping('cicd_scopes', runs)])
      const own = await scopeRulesOf({ database: test.database, plugins }, PROJECT)
      const signal = AbortSignal.timeout(300_000)
      let made: Awaited<ReturnType<typeof decided>> | undefined
      const { effects, keys } = await previewRules(test.database, range as never, rules, {
        signal,
        inForce: rulesInForce(own, rules),
        async transform(inside, types) {
          await transformWith(inside, own, { tried: rules, types, signal })
          made = await decided(inside)
        },
      })
      return {
        made,
        keys: keys.map(({ after }) => after),
        effect(rule: string) {
          const { matching = 0, starting = 0, stopping = 0 } = effects.find((each) => each.rule === rule) ?? {}
          return { matching, starting, stopping }
        },
      }
    },
  }
}
