import { FatalError } from '../errors.ts'
import { collect } from './collect.ts'
import { convert, redriveConvert } from './convert.ts'
import { type Engines, entitySubtasks, entityTables } from './entity-subtasks.ts'
import { extractWithKin, redriveExtract } from './extract.ts'
import { inTableOrder } from './order.ts'
import type { ExtraStep, PluginSpec } from './plugin.ts'
import { settingsTables } from './settings-tables.ts'
import { joinFamily } from './siblings.ts'
import { prepareSourceTask, type SourceTask } from './source-task.ts'
import type { Plugin, Subtask } from './subtask.ts'
import { withClient } from './task-client.ts'

const ENGINES: Engines<SourceTask> = {
  collect: { run: collect },
  extract: { run: extractWithKin, redrive: redriveExtract },
  convert: { run: convert, redrive: redriveConvert },
}

/** A plugin for a data source: three subtasks an entity, ordered by the tables they read and write. */
export function definePlugin(spec: PluginSpec): Plugin {
  joinFamily(spec)
  const { entities, extra } = spec
  const nodes = [
    ...(extra?.first ?? []).map((step) => extraSubtask(spec, step)),
    ...entitySubtasks(spec, ENGINES, async (run, body) => body(await prepareSourceTask(spec, run))),
    ...(extra?.last ?? []).map((step) => extraSubtask(spec, step)),
  ]
  const names = nodes.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new FatalError(`${spec.name}: two subtasks are called ${twice}`)
  const { connections, scopeConfigs } = settingsTables(spec)
  const tables = new Set([connections, scopeConfigs, spec.scope.table, ...entityTables(entities)])
  return { name: spec.name, title: spec.title, tables: [...tables], subtasks: inTableOrder(nodes), source: spec }
}

const extraSubtask = (spec: PluginSpec, extra: ExtraStep): Subtask & { entity: unknown } => ({
  name: extra.name,
  step: 'collect',
  entity: extra,
  reads: [],
  writes: [],
  domainTypes: extra.domainTypes,
  isDefault: true,
  async run(run) {
    const task = await prepareSourceTask(spec, run)
    const records = await withClient(task, (client) => extra.run(task, client))
    return { records, rows: 0, quarantined: 0 }
  },
})
