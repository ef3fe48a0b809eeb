import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { projectMapping } from '../../domain/crossdomain.ts'
import { UserError } from '../../errors.ts'
import type { Calculation } from './calculation.ts'
import { forgetProject } from './forget-project.ts'
import { inTurn, remove, replaceRows, writeInto } from './results.ts'

interface Mapping {
  readonly projectName: string
  readonly scopes?: readonly { readonly table: string; readonly rowId: string }[]
}

/** The owner, during a transaction, of scopes that have just been removed from a project. No project can have this name. */
const NOBODY = ''

/** Makes the scopes of each project exactly those that the plan names. */
export const setProjectMapping: Calculation = ({ database, options }) => {
  const mappings: readonly Mapping[] = options.projectMappings ?? []
  if (mappings.some(({ projectName }) => !projectName))
    throw new UserError('projectMappings: an entry has no projectName. Name the project that its scopes belong to.')
  return inTurn(database, projectMapping.name, async (inside) => {
    let written = 0
    for (const [projectName, own] of Map.groupBy(mappings, (each) => each.projectName)) {
      const rows = own.flatMap(({ scopes = [] }) =>
        scopes.map(({ table, rowId }) =>
          projectMapping.row({ project_name: projectName, table, row_id: rowId, _raw_data_params: projectName }),
        ),
      )
      const before = await scopesOf(inside, projectName)
      written += await replaceRows(inside, projectMapping, [sql`project_name = ${projectName}`], (table) =>
        writeInto(inside, table, rows),
      )
      await forgetLeft(inside, before, await scopesOf(inside, projectName))
    }
    return written
  })
}

interface Scope {
  readonly table: string
  readonly row_id: string
}

async function scopesOf({ kysely }: Database, project: string): Promise<Scope[]> {
  const { rows } = await sql<Scope>`select ${sql.ref('table')}, row_id from project_mapping
    where project_name = ${project}`.execute(kysely)
  return rows
}

/** Removes what was calculated for scopes that have left a project. They are treated as if they were a project of their own. */
async function forgetLeft(inside: Database, before: readonly Scope[], now: readonly Scope[]): Promise<void> {
  const keyOf = ({ table, row_id }: Scope) => `${table} ${row_id}`
  const kept = new Set(now.map(keyOf))
  const left = before.filter((scope) => !kept.has(keyOf(scope)))
  if (left.length === 0) return
  await writeInto(
    inside,
    projectMapping,
    left.map((scope) => projectMapping.row({ project_name: NOBODY, ...scope })),
  )
  await forgetProject(inside, NOBODY)
  await remove(inside, projectMapping, sql`project_name = ${NOBODY}`)
}
