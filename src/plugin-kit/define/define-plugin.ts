import { FatalError } from '../../errors.ts'
import { collect } from '../collect/collect.ts'
import { entityTables } from '../raw/descendants.ts'
import type { CompletionStep, ExtraStep, Plugin, PluginSpec, SourceTask } from '../spec/plugin.ts'
import type { Subtask } from '../spec/subtask.ts'
import { withClient } from '../task/client.ts'
import { joinFamily } from '../task/family.ts'
import { settingsTables } from '../task/settings-tables.ts'
import { prepareSourceTask } from '../task/source-task.ts'
import { convert, redriveConvert } from '../transform/convert.ts'
import { extractWithKin, redriveExtract } from '../transform/extract.ts'
import { openWindow } from '../transform/window.ts'
import { type Engines, entitySubtasks } from './entity-subtasks.ts'
import { inTableOrder } from './order.ts'
import { requireWhole } from './require-whole.ts'

const ENGINES: Engines<SourceTask> = {
  collect: { run: collect },
  extract: { run: extractWithKin, redrive: redriveExtract },
  convert: { run: convert, redrive: redriveConvert },
}

/** Makes the plugin of a data source: up to three subtasks for each entity, ordered by the tables they read and write. */
export function definePlugin(spec: PluginSpec): Plugin {
  requireWhole(spec)
  joinFamily(spec)
  const { entities, extra } = spec
  const nodes = [
    ...(extra?.first ?? []).map((step) => extraSubtask(spec, step)),
    ...entitySubtasks(spec, ENGINES, async (run, body) => body(await prepareSourceTask(spec, run))),
    ...(spec.completions ?? []).map((step) => completionSubtask(spec, step)),
    ...(extra?.last ?? []).map((step) => extraSubtask(spec, step)),
  ]
  const names = nodes.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new FatalError(`${spec.name}: two subtasks are called ${twice}`)
  const { connections, scopeConfigs } = settingsTables(spec)
  const tables = new Set([connections, scopeConfigs, spec.scope.table, ...entityTables(entities)])
  return {
    name: spec.name,
    title: spec.title,
    tables: [...tables],
    subtasks: inTableOrder(nodes),
    source: spec,
    ...(spec.routes && { routes: spec.routes }),
  }
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

const completionSubtask = (spec: PluginSpec, completion: CompletionStep): Subtask & { entity: unknown } => ({
  name: completion.name,
  step: 'extract',
  entity: completion,
  reads: [completion.table, ...completion.reads].map(({ name }) => name),
  writes: [],
  completes: [completion.table.name],
  domainTypes: completion.domainTypes,
  isDefault: true,
  async run(run) {
    const task = await prepareSourceTask(spec, run)
    const place = { plugin: spec.name, subtask: completion.name, params: task.params }
    const window = await openWindow(task.database, place, { fullSync: task.fullSync, config: '' })
    const rows = await completion.run(task, window.stamp)
    await window.succeeded()
    return { records: rows, rows, quarantined: 0 }
  },
})
