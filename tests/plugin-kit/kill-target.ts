/** Runs the sample plugin's subtasks and prints its progress, for a test that kills it on the way. */
import { openDatabase } from '../../src/database/open.ts'
import { runSubtask } from '../support/run-subtask.ts'
import { sample } from '../support/sample-plugin.ts'

const [url = '', fullSync] = process.argv.slice(2)
const database = await openDatabase(url)
for (const { name, step } of sample.subtasks) {
  if (step === 'collect') continue
  await runSubtask(
    database,
    sample,
    name,
    { connectionId: 1, boardId: 7 },
    {
      fullSync: fullSync === 'full',
      progress: ({ done }) => console.log(`${name} ${done}`),
    },
  )
}
await database.close()
