import type { ApiClient, HttpEvent } from '../http/index.ts'
import type { SourceTask } from '../spec/plugin.ts'
import { connectionSettings, openClient } from './connection.ts'
import { databaseBudgets } from './database-budgets.ts'

/** Opens a client of the task's connection for `body`, and closes it afterwards. Its events go to the task's log. */
export async function withClient<Result>(
  task: SourceTask,
  body: (client: ApiClient) => Promise<Result>,
): Promise<Result> {
  const { plugin, context } = task
  const settings = await connectionSettings(plugin, context.connectionId, task)
  const tell = (event: HttpEvent) => {
    task.log?.(event.message)
    if (event.kind === 'waiting') task.progress({ waitingUntil: event.until })
  }
  const client = openClient(plugin, settings, tell, { store: databaseBudgets(task.database) })
  try {
    return await body(client)
  } finally {
    await client.close()
  }
}
