/** Groups as a tree, read at once: there are few of them. */

import { shortName, unknownName } from '../../basics/nearest.ts'
import type { RowOf } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { groupProjects, projectGroups } from '../../system/groups.ts'
import { type Queries, selectRows } from '../store.ts'

export interface GroupTree {
  readonly groups: ReadonlyMap<string, RowOf<typeof projectGroups>>
  /** Names of the groups directly in a group. */
  readonly groupsIn: ReadonlyMap<string, readonly string[]>
  /** Names of the projects directly in a group. */
  readonly projectsIn: ReadonlyMap<string, readonly string[]>
  /** Names of the groups that contain a project directly, in the order of names. */
  readonly groupsOf: ReadonlyMap<string, readonly string[]>
}

export async function readGroupTree(queries: Queries): Promise<GroupTree> {
  const rows = await selectRows(queries, projectGroups, (query) => query.orderBy('name'))
  const members = await selectRows(queries, groupProjects, (query) =>
    query.orderBy('group_name').orderBy('project_name'),
  )
  return {
    groups: new Map(rows.map((row) => [row.name, row])),
    groupsIn: namesBy(rows.map(({ parent, name }) => [parent, name])),
    projectsIn: namesBy(members.map(({ group_name, project_name }) => [group_name, project_name])),
    groupsOf: namesBy(members.map(({ group_name, project_name }) => [project_name, group_name])),
  }
}

function namesBy(pairs: readonly (readonly [by: string, name: string])[]): Map<string, string[]> {
  const grouped = Map.groupBy(pairs, ([by]) => by)
  return new Map([...grouped].map(([by, own]) => [by, own.map(([, name]) => name)]))
}

export function requireGroup({ groups }: GroupTree, name: string): RowOf<typeof projectGroups> {
  const row = groups.get(name)
  if (!row) throw unknownName('group', name, groups.keys())
  return row
}

/** The group itself and every group in it, however deep. */
function groupsWithin({ groupsIn }: GroupTree, name: string): string[] {
  const found = new Set([name])
  for (const each of found) for (const inner of groupsIn.get(each) ?? []) found.add(inner)
  return [...found]
}

/** The projects of the group and of the groups in it, each once. */
export const projectsWithin = (tree: GroupTree, name: string): string[] => [
  ...new Set(groupsWithin(tree, name).flatMap((each) => tree.projectsIn.get(each) ?? [])),
]

/** The groups around one, from the nearest outwards. */
export function groupsAround({ groups }: GroupTree, name: string): string[] {
  const found = new Set<string>()
  let parent = groups.get(name)?.parent ?? ''
  while (parent !== '' && !found.has(parent)) {
    found.add(parent)
    parent = groups.get(parent)?.parent ?? ''
  }
  return [...found]
}

/** The groups that contain a project, from the nearest outwards; of those equally near, in the order of names. */
export function groupsAroundProject(tree: GroupTree, project: string): string[] {
  const ways = (tree.groupsOf.get(project) ?? []).map((name) => [name, ...groupsAround(tree, name)])
  const longest = Math.max(0, ...ways.map(({ length }) => length))
  const near = Array.from({ length: longest }, (_, step) => ways.flatMap((way) => way[step] ?? []))
  return [...new Set(near.flat())]
}

/** Refuses a parent that the group itself contains. */
export function requireOutside(tree: GroupTree, name: string, parent: string): void {
  if (parent === '') return
  if (parent === name) throw new UserError(`The group ${shortName(name)} cannot contain itself: choose another parent.`)
  requireGroup(tree, parent)
  const way = [parent, ...groupsAround(tree, parent)]
  const place = way.indexOf(name)
  if (place < 0) return
  const words = way
    .slice(0, place + 1)
    .toReversed()
    .map(shortName)
    .join(' contains ')
  throw new UserError(
    `The group ${shortName(name)} would contain itself, because ${words}: choose another parent for ${shortName(name)}.`,
  )
}
