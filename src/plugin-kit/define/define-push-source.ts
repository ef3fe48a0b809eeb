import { decimalOf } from '../../basics/decimal.ts'
import { UserError } from '../../errors.ts'
import { lockConnection, taskOf } from '../push/receive.ts'
import { entityTables } from '../raw/descendants.ts'
import type { EntityTask } from '../spec/entity.ts'
import type { Plugin } from '../spec/plugin.ts'
import type { PushSource, PushSourceSpec } from '../spec/push-source.ts'
import type { TaskRun } from '../spec/subtask.ts'
import { connectionTable } from '../task/settings-tables.ts'
import { convert, redriveConvert } from '../transform/convert.ts'
import { extract, redriveExtract } from '../transform/extract.ts'
import { type Engines, entitySubtasks } from './entity-subtasks.ts'
import { inTableOrder } from './order.ts'

const ENGINES: Engines<EntityTask> = {
  extract: { run: extract, redrive: redriveExtract },
  convert: { run: convert, redrive: redriveConvert },
}

export function definePushSource(spec: PushSourceSpec): Plugin {
  const pushSource: PushSource = { ...spec, connections: connectionTable(spec.name, spec.title, {}) }
  const rebuild = async <Result>(run: TaskRun, body: (task: EntityTask) => Promise<Result>) => {
    const connectionId = decimalOf(run.options.connectionId)
    if (connectionId === undefined) throw new UserError(`${pushSource.name}: the option connectionId is missing.`)
    // Messages that arrive meanwhile wait, so that they are not overwritten by older ones or swept away.
    return run.database.aside((own) =>
      own.transaction(async (locking) => {
        await lockConnection(locking, pushSource, connectionId)
        return body(taskOf(run, connectionId))
      }),
    )
  }
  return {
    name: pushSource.name,
    title: pushSource.title,
    tables: [pushSource.connections, ...entityTables(pushSource.entities)],
    subtasks: inTableOrder(entitySubtasks(pushSource, ENGINES, rebuild)),
    pushSource,
  }
}
