/** Finds the projects that a project, a team, a group or all stand for, each with its own policy. */
import { sql } from 'kysely'
import { unknownName } from '../../basics/nearest.ts'
import type { Database } from '../../database/database.ts'
import type { Whose } from '../../metrics/answer/answer.ts'
import type { MetricFilter } from '../../metrics/metric.ts'
import { type Whole, wholeOfParts } from '../../metrics/whole.ts'
import { policiesOfProjects } from '../projects/project-policy.ts'
import { unknownProject } from '../projects/unknown-project.ts'
import { projectsWithin, readGroupTree, requireGroup } from './group-tree.ts'

/** Every name that counts as a project: one that somebody made, or to which rows are mapped, whoever mapped them. */
export async function everyProject({ kysely }: Pick<Database, 'kysely'>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from projects
    union select project_name from project_mapping`.execute(kysely)
  return rows.map(({ name }) => name).toSorted()
}

/** The projects in the order of their names. Refuses a name that nobody knows. */
export async function projectsOfWhose(database: Database, { kind, name }: Whose): Promise<string[]> {
  if (kind === 'project') {
    await requireProject(database, name ?? '')
    return [name ?? '']
  }
  if (kind !== 'group') return everyProject(database)
  const tree = await readGroupTree(database.kysely)
  requireGroup(tree, name ?? '')
  return projectsWithin(tree, name ?? '').toSorted()
}

/** A name also counts as a project if rows are mapped to it, whoever mapped them. */
export async function requireProject({ kysely }: Database, project: string): Promise<void> {
  const { rows } = await sql`select 1 from projects where name = ${project}
    union select 1 from project_mapping where project_name = ${project}`.execute(kysely)
  if (rows.length === 0) throw await unknownProject(kysely, project)
}

/** Finds a team by its id or its name. */
export async function teamIdOf(database: Database, asked: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from teams where id = ${asked} or name = ${asked}
    order by case when id = ${asked} then 0 else 1 end, id`.execute(database.kysely)
  if (rows[0]) return rows[0].id
  throw unknownName('team', asked, [])
}

/**
 * Returns all projects of a project, team, group or all, to be read as one by `readMetrics`, `readManySeries` and `readItems`.
 * `shared` is what they have in common: range, environment, reading.
 */
export async function wholeOf(
  database: Database,
  whose: Whose,
  shared: Omit<MetricFilter, 'project' | 'policy' | 'service'>,
): Promise<Whole> {
  const team = whose.kind === 'team' ? { team: await teamIdOf(database, whose.name ?? '') } : {}
  const projects = await projectsOfWhose(database, whose)
  const policies = await policiesOfProjects(database, projects)
  return wholeOfParts(
    { ...shared, ...team },
    projects.map((project) => ({ ...shared, ...team, project, policy: policies(project) })),
  )
}
