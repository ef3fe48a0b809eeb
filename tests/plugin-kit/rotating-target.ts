/** Collects from a source with rotating tokens, as another server would. */
import { openDatabase } from '../../src/database/open.ts'
import { collectStories } from './rotating.ts'

const [url = ''] = process.argv.slice(2)
const database = await openDatabase(url)
try {
  await collectStories(database, console.log)
} finally {
  await database.close()
}
