import { unknownName } from '../../basics/nearest.ts'
import type { UserError } from '../../errors.ts'
import { projects } from '../../system/projects.ts'
import type { Queries } from '../store.ts'

const MOST_COMPARED = 1000

export async function unknownProject(queries: Queries, name: string, status = 404): Promise<UserError> {
  const rows = await queries
    .selectFrom(projects.name)
    .select('name')
    .orderBy('created_at', 'desc')
    .limit(MOST_COMPARED)
    .execute()
  return unknownName(
    'project',
    name,
    rows.map((row) => String(row.name)),
    status,
  )
}
