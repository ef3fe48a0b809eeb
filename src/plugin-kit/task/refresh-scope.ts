import { readAll } from '../../database/read.ts'
import { write } from '../../database/write.ts'
import type { SourceTask } from '../spec/plugin.ts'
import { takeOverScope } from './siblings.ts'

/** Stores what the source says about the scope itself, such as its current name. Values that users set stay. */
export async function refreshScope(task: SourceTask, values: Readonly<Record<string, unknown>>): Promise<void> {
  const { database, plugin, context, options } = task
  const { table, params, options: named } = plugin.scope
  const keys = table.keys.map((position) => table.names[position] as string)
  const where = Object.fromEntries(keys.map((key) => [key, context.scope[key]]))
  const [stored] = await readAll(database, { table, where })
  if (!stored) return
  const changed = { ...stored, ...values }
  const textOf = (row: unknown) => JSON.stringify(params(context.connectionId, row))
  const isFoundByKey = Object.entries(named).some(([option, column]) => keys.includes(column) && options[option])
  if (textOf(changed) !== textOf(stored) && !isFoundByKey) {
    // The other subtasks of this task would not find the scope under its new name.
    task.log?.(`this scope is called ${textOf(changed)} now; a task that names it by its id follows`)
    return
  }
  await write(database, [table.row(changed)])
  // Done before any other subtask remembers something under the new name.
  await takeOverScope({ ...task, params: textOf(changed), context: { ...context, scope: changed } })
}
