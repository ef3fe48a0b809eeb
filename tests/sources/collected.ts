/** A database in which a vendor of the convergence suite was changed, and collected into two projects. */
import fc from 'fast-check'
import { scopeParams } from '../../src/control-plane/scopes/scope-data.ts'
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { calculateProject, mapProject } from '../convergence/support/projects.ts'
import { runTask } from '../convergence/support/run-task.ts'
import type { RunningVendor, VendorUnderTest } from '../convergence/support/vendor-under-test.ts'

const CONNECTION = 1
const CONFIG = 1
/** The number of changes of each kind, so that all of a vendor's records occur in some form. */
const ROUNDS = 6
const SEED = 31

function changeMuch(vendor: VendorUnderTest, running: RunningVendor): void {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, change] of Object.entries(vendor.changes)) {
      const [parameters = []] = fc.sample(fc.tuple(...change.arguments), { numRuns: 1, seed: SEED + round })
      running.change(name, parameters)
    }
  }
}

/** Collects all scopes of the vendor, and calculates the projects that they belong to. */
export async function collectVendor(database: Database, vendor: VendorUnderTest): Promise<void> {
  const time = Date.now() - 3_600_000
  const running = await vendor.start(() => time)
  try {
    changeMuch(vendor, running)
    const [plugin] = vendor.interfaces
    const spec = plugin.source as PluginSpec
    const source = spec.settingsOf ?? spec
    const { connections, scopeConfigs } = settingsTables(source)
    const columns = (values: object) => values as any
    const rows = vendor.scopes.map(({ row }) => ({ ...row, connection_id: CONNECTION, scope_config_id: CONFIG }))
    await write(database, [
      connections.row(columns({ id: CONNECTION, name: vendor.name, ...running.connection })),
      scopeConfigs.row(columns({ id: CONFIG, connection_id: CONNECTION, name: 'rules', ...vendor.rules[0] })),
      ...rows.map((row) =>
        source.scope.table.row(
          columns({
            ...row,
            _raw_data_table: `_raw_${source.name}_scopes`,
            _raw_data_params: scopeParams(source, CONNECTION, row),
          }),
        ),
      ),
    ])
    const projects = {
      database,
      source,
      connectionId: CONNECTION,
      regrouped: new Set<string>(),
      scopes: new Map(rows.map((row, number) => [number, row])),
      signal: new AbortController().signal,
    }
    for (const project of [0, 1]) await mapProject(projects, project)
    for (const { options } of vendor.scopes) {
      await runTask(database, plugin, { connectionId: CONNECTION, ...options })
    }
    for (const project of [0, 1]) await calculateProject(projects, project)
  } finally {
    await running.stop()
  }
}
