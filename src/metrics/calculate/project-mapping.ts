import { sql } from 'kysely'
import { write } from '../../database/write.ts'
import { projectMapping } from '../../domain/crossdomain.ts'
import { UserError } from '../../errors.ts'
import { type Calculation, swap } from './calculation.ts'

interface Mapping {
  readonly projectName: string
  readonly scopes?: readonly { readonly table: string; readonly rowId: string }[]
}

/** Makes the scopes of each project exactly those that the plan names. */
export const setProjectMapping: Calculation = ({ database, options }) => {
  const mappings: readonly Mapping[] = options.projectMappings ?? []
  if (mappings.some(({ projectName }) => !projectName))
    throw new UserError('projectMappings: an entry has no projectName. Name the project that its scopes belong to.')
  return swap(database, async (inside) => {
    const rows = mappings.flatMap(({ projectName, scopes = [] }) =>
      scopes.map(({ table, rowId }) =>
        projectMapping.row({ project_name: projectName, table, row_id: rowId, _raw_data_params: projectName }),
      ),
    )
    for (const { projectName } of mappings) {
      await sql`delete from project_mapping where project_name = ${projectName}`.execute(inside.kysely)
    }
    await write(inside, rows)
    return rows.length
  })
}
