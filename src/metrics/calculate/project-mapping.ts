import { sql } from 'kysely'
import { projectMapping } from '../../domain/crossdomain.ts'
import { UserError } from '../../errors.ts'
import type { Calculation } from './calculation.ts'
import { inTurn, replaceRows, writeInto } from './results.ts'

interface Mapping {
  readonly projectName: string
  readonly scopes?: readonly { readonly table: string; readonly rowId: string }[]
}

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
      written += await replaceRows(inside, projectMapping, [sql`project_name = ${projectName}`], (table) =>
        writeInto(inside, table, rows),
      )
    }
    return written
  })
}
