/** Keeps groups and targets right when a project changes its name, or is deleted. */
import { groupProjects, targets } from '../../system/groups.ts'
import { deleteRows, type Queries, updateRows } from '../store.ts'

export async function followRename(queries: Queries, name: string, newName: string): Promise<void> {
  await updateRows(queries, groupProjects, { project_name: name }, { project_name: newName })
  await updateRows(queries, targets, { kind: 'project', name }, { name: newName })
}

export async function forgetInGroups(queries: Queries, project: string): Promise<void> {
  await deleteRows(queries, groupProjects, { project_name: project })
  await deleteRows(queries, targets, { kind: 'project', name: project })
}
