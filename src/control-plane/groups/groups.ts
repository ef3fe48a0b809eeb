/** Groups of projects: listing them, and changes, each of which is recorded. */

import { shortName } from '../../basics/nearest.ts'
import type { Database } from '../../database/database.ts'
import { retrying } from '../../database/write.ts'
import { UserError } from '../../errors.ts'
import { groupProjects, projectGroups, targets } from '../../system/groups.ts'
import { type Action, type Actor, recordChange } from '../audit/record.ts'
import { checkName } from '../connections/connections.ts'
import { deleteRows, insertRow, insertRows, type Queries, selectRows, updateRows } from '../store.ts'
import { ChangedError, isStale, laterThan } from '../versions.ts'
import {
  type GroupTree,
  groupsAround,
  projectsWithin,
  readGroupTree,
  requireGroup,
  requireOutside,
} from './group-tree.ts'
import { requireProject } from './whole.ts'

export interface Group {
  readonly name: string
  readonly description: string
  /** The group that contains it, or null. */
  readonly parent: string | null
  /** The groups around it, from the nearest outwards. */
  readonly within: readonly string[]
  /** Directly in it. */
  readonly projects: readonly string[]
  readonly groups: readonly string[]
  /** How many projects are in it or in groups in it. */
  readonly allProjects: number
  readonly updatedAt: Date
}
interface GroupChanges {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly parent?: string | null | undefined
  /** Replaces all projects that are directly in it. */
  readonly projects?: readonly string[] | undefined
}

export const LONGEST_GROUP_NAME = 255
const MOST_GROUPS = 1000
const MOST_PROJECTS = 10_000

function groupOf(tree: GroupTree, name: string): Group {
  const { description, parent, updated_at } = requireGroup(tree, name)
  return {
    name,
    description,
    parent: parent === '' ? null : parent,
    within: groupsAround(tree, name),
    projects: tree.projectsIn.get(name) ?? [],
    groups: tree.groupsIn.get(name) ?? [],
    allProjects: projectsWithin(tree, name).length,
    updatedAt: updated_at,
  }
}

export async function listGroups({ kysely }: Pick<Database, 'kysely'>): Promise<Group[]> {
  const tree = await readGroupTree(kysely)
  return [...tree.groups.keys()].map((name) => groupOf(tree, name))
}

export const getGroup = async ({ kysely }: Pick<Database, 'kysely'>, name: string): Promise<Group> =>
  groupOf(await readGroupTree(kysely), name)

/** Changes groups in one transaction. Two changes at once could together make a circle, so all groups are held. */
const changing = <Result>(database: Database, act: (inside: Database) => Promise<Result>): Promise<Result> =>
  retrying(database, () =>
    database.transaction(async (inside) => {
      await selectRows(inside.kysely, projectGroups, (query) => query.orderBy('name').forUpdate())
      return act(inside)
    }),
  )

const record = (queries: Queries, actor: Actor, action: Action, before: Group | null, after: Group | null) =>
  recordChange(queries, actor, { action, subject: 'group', key: (after ?? before)?.name ?? '', before, after })

export const createGroup = (
  database: Database,
  { name: nameInput, ...changes }: GroupChanges & { readonly name: string },
  actor: Actor,
): Promise<Group> =>
  changing(database, async (inside) => {
    const name = checkName(nameInput, LONGEST_GROUP_NAME)
    const tree = await readGroupTree(inside.kysely)
    if (tree.groups.has(name)) throw taken(name)
    if (tree.groups.size >= MOST_GROUPS) {
      throw new UserError(`There are ${MOST_GROUPS} groups already: delete one that nobody needs.`)
    }
    await insertRow(inside.kysely, projectGroups, { name, description: '', parent: '' })
    const after = await store(inside, name, changes)
    await record(inside.kysely, actor, 'create', null, after)
    return after
  })

export const updateGroup = (
  database: Database,
  name: string,
  { name: nameInput, ...changes }: GroupChanges,
  seen: Date | undefined,
  actor: Actor,
): Promise<Group> =>
  changing(database, async (inside) => {
    const before = await getGroup(inside, name)
    if (isStale(before.updatedAt, seen)) throw new ChangedError(`The group ${shortName(name)}`, before)
    const newName = nameInput === undefined ? name : checkName(nameInput, LONGEST_GROUP_NAME)
    if (newName !== name) await rename(inside.kysely, name, newName)
    await updateRows(inside.kysely, projectGroups, { name: newName }, { updated_at: laterThan(before.updatedAt) })
    const after = await store(inside, newName, changes)
    await record(inside.kysely, actor, 'update', before, after)
    return after
  })

/** Deletes a group. The groups in it move to the group around it; its projects stay. */
export const removeGroup = (database: Database, name: string, actor: Actor): Promise<void> =>
  changing(database, async (inside) => {
    const before = await getGroup(inside, name)
    await updateRows(inside.kysely, projectGroups, { parent: name }, { parent: before.parent ?? '' })
    await deleteRows(inside.kysely, groupProjects, { group_name: name })
    await deleteRows(inside.kysely, targets, { kind: 'group', name })
    await deleteRows(inside.kysely, projectGroups, { name })
    await record(inside.kysely, actor, 'delete', before, null)
  })

const taken = (name: string) => new UserError(`There is already a group ${shortName(name)}: choose another name.`)

async function rename(queries: Queries, name: string, newName: string): Promise<void> {
  if ((await readGroupTree(queries)).groups.has(newName)) throw taken(newName)
  await updateRows(queries, projectGroups, { name }, { name: newName })
  await updateRows(queries, projectGroups, { parent: name }, { parent: newName })
  await updateRows(queries, groupProjects, { group_name: name }, { group_name: newName })
  await updateRows(queries, targets, { kind: 'group', name }, { name: newName })
}

async function store(inside: Database, name: string, changes: Omit<GroupChanges, 'name'>): Promise<Group> {
  const { description, parent, projects } = changes
  if (description !== undefined) await updateRows(inside.kysely, projectGroups, { name }, { description })
  if (parent !== undefined) {
    requireOutside(await readGroupTree(inside.kysely), name, parent ?? '')
    await updateRows(inside.kysely, projectGroups, { name }, { parent: parent ?? '' })
  }
  if (projects) await storeProjects(inside, name, projects)
  return getGroup(inside, name)
}

/** A project that is in the group already may have vanished since; only new ones must be known. */
async function storeProjects(inside: Database, group_name: string, projects: readonly string[]): Promise<void> {
  const wanted = new Set(projects)
  if (wanted.size > MOST_PROJECTS) throw new UserError(`A group has at most ${MOST_PROJECTS} projects of its own.`)
  const known = new Set((await getGroup(inside, group_name)).projects)
  const added = [...wanted].filter((each) => !known.has(each))
  for (const project of added) await requireProject(inside, project)
  const gone = [...known].filter((each) => !wanted.has(each))
  if (gone.length > 0) await deleteRows(inside.kysely, groupProjects, { group_name, project_name: gone })
  await insertRows(
    inside.kysely,
    groupProjects,
    added.map((project_name) => ({ group_name, project_name })),
  )
}
