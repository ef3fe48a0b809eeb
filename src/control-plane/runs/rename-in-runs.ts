/** Renames a project in runs that are still waiting, because they must work for it under its new name. */
import type { Secrets } from '../../secrets/secrets.ts'
import { pipelines, tasks } from '../../system/pipelines.ts'
import { blueprints, plans } from '../../system/projects.ts'
import { ConflictError } from '../guards.ts'
import { createReader, openJson, openOptions, sealJson } from '../sealed.ts'
import { equalTo, type Queries, selectRows, updateRows } from '../store.ts'
import { laterThan } from '../versions.ts'
import { UNFINISHED } from './states.ts'

/** Replaces the old project name in plans and options; undefined when it does not occur. */
function renamed(value: unknown, from: string, to: string): unknown {
  let isFound = false
  const text = JSON.stringify(value, (key, each) => {
    if (key !== 'projectName' || each !== from) return each
    isFound = true
    return to
  })
  return isFound ? JSON.parse(text) : undefined
}

/** Throws while a task is running under the old name. Waiting tasks are locked, so they begin only after the transaction. */
export async function renameInRuns(transaction: Queries, from: string, to: string, secrets: Secrets): Promise<void> {
  const rename = (value: unknown) => renamed(value, from, to)
  const waiting = await selectRows(transaction, pipelines, (query) =>
    query.where('status', 'in', UNFINISHED).orderBy('id').forUpdate(),
  )
  for (const { id } of waiting) {
    const rows = await selectRows(transaction, tasks, (query) =>
      query.where('pipeline_id', '=', id).where('status', 'in', UNFINISHED).orderBy('id').forUpdate(),
    )
    for (const task of rows) {
      const options = rename(createReader().read('options', () => openOptions(task.options, secrets), {}))
      if (!options) continue
      if (task.status === 'TASK_RUNNING') {
        throw new ConflictError(`Pipeline ${id} is working on project ${from}: wait for it, or cancel it.`)
      }
      await updateRows(transaction, tasks, { id: task.id }, { options: sealJson(options, secrets) })
    }
    await renamePlans(transaction, { subject: 'pipeline', subject_id: id }, rename, secrets)
  }
  for (const row of await selectRows(transaction, blueprints, (query) => query.where('project_name', '=', to))) {
    await renamePlans(transaction, { subject: 'blueprint', subject_id: row.id }, rename, secrets)
    await updateRows(transaction, blueprints, { id: row.id }, { updated_at: laterThan(row.updated_at) })
  }
}

async function renamePlans(
  transaction: Queries,
  owner: { readonly subject: 'blueprint' | 'pipeline'; readonly subject_id: number },
  rename: (value: unknown) => unknown,
  secrets: Secrets,
): Promise<void> {
  for (const row of await selectRows(transaction, plans, (query) => equalTo<typeof plans>(query, owner))) {
    const plan = rename(createReader().read('plan', () => openJson(row.content, secrets), null))
    if (!plan) continue
    const text = JSON.stringify(plan)
    const values = { characters: text.length, content: secrets.encrypt(text) }
    await updateRows(transaction, plans, { ...owner, field: row.field }, values)
  }
}
