import { connectionSettings, openClient } from './connection.ts'
import type { ApiClient } from './http/index.ts'
import type { SourceTask } from './source-task.ts'

/** A client of the task's connection, for as long as `body` takes; what it has to tell goes to the task's log. */
export async function withClient<Result>(
  task: SourceTask,
  body: (client: ApiClient) => Promise<Result>,
): Promise<Result> {
  const { plugin, context } = task
  const settings = await connectionSettings(plugin, context.connectionId, task)
  const client = openClient(plugin, settings, (event) => {
    task.log?.(event.message)
    if (event.kind === 'waiting') task.progress({ waitingUntil: event.until })
  })
  try {
    return await body(client)
  } finally {
    await client.close()
  }
}
