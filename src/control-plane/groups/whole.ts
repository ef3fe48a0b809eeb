/** Finds the projects that a project, a team, a group or all stand for, each with its own policy. */
import { sql } from 'kysely'
import { shortName, unknownName } from '../../basics/nearest.ts'
import type { Database } from '../../database/database.ts'
import { UserError } from '../../errors.ts'
import type { Whose } from '../../metrics/answer/answer.ts'
import type { MetricFilter } from '../../metrics/metric.ts'
import type { Policy } from '../../metrics/policy/policy.ts'
import { type Whole, wholeOfParts } from '../../metrics/whole.ts'
import { policiesOfProjects } from '../projects/project-policy.ts'
import { unknownProject } from '../projects/unknown-project.ts'
import { projectsWithin, readGroupTree, requireGroup } from './group-tree.ts'

/** Every name that counts as a project: one that somebody made, or to which rows are mapped, whoever mapped them. */
async function everyProject({ kysely }: Pick<Database, 'kysely'>): Promise<string[]> {
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

interface Named {
  readonly id: string
  readonly name: string
}

/** Finds the id of what the user calls by its id or name. */
export async function idOf(what: string, asked: string, list: () => Promise<readonly Named[]>): Promise<string> {
  const known = await list()
  if (known.some(({ id }) => id === asked)) return asked
  const namesakes = known.filter(({ name }) => name === asked)
  if (namesakes.length > 1) {
    const ids = namesakes.map(({ id }) => id).join(', ')
    throw new UserError(`More than one ${what} is called ${shortName(asked)}: ask for one by its id: ${ids}.`)
  }
  if (namesakes[0]) return namesakes[0].id
  throw unknownName(
    what,
    asked,
    known.map(({ id, name }) => name || id),
  )
}

export async function teamsOf({ kysely }: Database): Promise<Named[]> {
  const { rows } = await sql<Named>`select id, coalesce(name, '') as name from teams order by id`.execute(kysely)
  return rows
}

type Shared = Omit<MetricFilter, 'project' | 'policy' | 'service'>

/** `adapt` may change how a project counts; `service` is what a request asks for of incidents. */
export async function wholeOfProjects(
  database: Database,
  projects: readonly string[],
  shared: Shared,
  adapt: (own: Policy) => Pick<MetricFilter, 'policy' | 'service'> = (policy) => ({ policy }),
): Promise<Whole> {
  const policies = await policiesOfProjects(database, projects)
  return wholeOfParts(
    shared,
    projects.map((project) => ({ ...shared, project, ...adapt(policies(project)) })),
  )
}

/**
 * Returns all projects of a project, team, group or all, to be read as one by `readMetrics`, `readManySeries` and `readItems`.
 * `shared` is what they have in common: range, environment, reading.
 */
export async function wholeOf(database: Database, whose: Whose, shared: Shared): Promise<Whole> {
  const team = whose.kind === 'team' ? { team: await idOf('team', whose.name ?? '', () => teamsOf(database)) } : {}
  return wholeOfProjects(database, await projectsOfWhose(database, whose), { ...shared, ...team })
}
