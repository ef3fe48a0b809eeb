/** Tries rules in a thread, with a database connection of its own. */
import { previewOfProject, type TriedRules } from '../../control-plane/rule-preview.ts'
import { openDatabase } from '../../database/open.ts'
import { plugins } from '../../plugins/index.ts'

/** What is read within the transaction, and what reads beside it. */
const CONNECTIONS = 2

export async function previewRules(url: string, tried: TriedRules) {
  const database = await openDatabase(url, CONNECTIONS)
  try {
    return await previewOfProject({ database, plugins }, tried)
  } catch (error) {
    throw database.explain(error) ?? error
  } finally {
    await database.close()
  }
}
