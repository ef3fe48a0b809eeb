/** Causes for which collected records do not count: rules that map nothing. */
import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import type { Cause } from '../../metrics/answer/answer.ts'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { changeFailureRate } from '../../metrics/definitions/change-failure-rate.ts'
import { deploymentFrequency } from '../../metrics/definitions/deployment-frequency.ts'
import { findingsOf } from '../../metrics/findings/findings.ts'
import { projectsKnowingIncidents } from '../../metrics/grades/read-grades.ts'
import type { Metric } from '../../metrics/metric.ts'
import { isPlainlyElsewhere } from '../../metrics/policy/environment-names.ts'
import { DEFAULT_POLICY } from '../../metrics/policy/policy.ts'
import { namedFew } from '../projects/partial-data.ts'
import { rulePlacesOf } from '../scopes/rules-in-force.ts'
import {
  type AttentionQuestion,
  amongNames,
  type Context,
  detailsOf,
  type FindCauses,
  isAsked,
  pageOf,
} from './question.ts'

/** The number of projects whose collected records are looked at closely. */
const MOST_LOOKED_AT = 3
const MOST_PLACES = 3
/** Projects per statement that asks for the incidents of each. */
const MOST_ASKED = 100

export const ruleCauses: FindCauses = async (context, question) => [
  ...(await deploymentRules(context, question)),
  ...(await incidentRules(context, question)),
]

const PREVIEW = 'the preview shows the effect before you save it.'
const placeOf = ({ environment }: AttentionQuestion): string => environment.toLowerCase()

interface Known {
  readonly project: string
  readonly isBuilt: number
  readonly isDeployed: number
  readonly isSuited: number
}

async function deploymentRules(context: Context, question: AttentionQuestion): Promise<Cause[]> {
  const place = placeOf(question)
  const flag = (condition: Sql) => sql`max(case when exists (select 1 from ${condition}) then 1 else 0 end)`
  const commits = sql`cicd_deployment_commits c where c.cicd_scope_id = m.row_id`
  const { rows } = await sql<Known>`select m.project_name as project,
      ${flag(sql`cicd_pipelines p where p.cicd_scope_id = m.row_id`)} as ${sql.id('isBuilt')},
      ${flag(commits)} as ${sql.id('isDeployed')},
      ${flag(sql`${commits} and c.environment = ${question.environment}`)} as ${sql.id('isSuited')}
    from project_mapping m where m.${sql.id('table')} = 'cicd_scopes' and ${isAsked('m.project_name', question)}
    group by m.project_name order by m.project_name`.execute(context.database.kysely)
  const named = (wanted: (known: Known) => boolean) => rows.filter(wanted).map(({ project }) => project)
  const unbuilt = named(({ isBuilt, isDeployed }) => Number(isBuilt) === 1 && Number(isDeployed) === 0)
  const unsuited = named(({ isDeployed, isSuited }) => Number(isDeployed) === 1 && Number(isSuited) === 0)
  const suited = new Set(named(({ isSuited }) => Number(isSuited) === 1))
  return [
    ...(await causeOf(context, question, unbuilt, {
      sentence: (names) => `No rule says which builds of ${names} are deployments.`,
      remedy: `Write a rule that names the builds that deploy, or let your tools report deployments; ${PREVIEW}`,
      metric: deploymentFrequency,
      rule: 'deploymentPattern',
      count: sql`count(distinct p.id) as count from project_mapping m inner join cicd_pipelines p on p.cicd_scope_id = m.row_id
        where m.${sql.id('table')} = 'cicd_scopes'`,
    })),
    ...(await causeOf(context, question, unsuited, {
      sentence: (names) => `No rule maps a deployment of ${names} to ${place}.`,
      remedy: `Write a rule that says which deployments went to ${place}; ${PREVIEW}`,
      metric: deploymentFrequency,
      rule: 'envNamePattern',
      count: sql`count(distinct c.cicd_deployment_id) as count from project_mapping m
        inner join cicd_deployment_commits c on c.cicd_scope_id = m.row_id where m.${sql.id('table')} = 'cicd_scopes'`,
    })),
    ...(await unmappedPlaces(context, question, suited)),
  ]
}

interface Place {
  readonly project: string
  readonly name: string
  readonly count: number
}

/** Places of deployment that no rule maps, in projects whose other deployments are mapped. */
async function unmappedPlaces(
  context: Context,
  question: AttentionQuestion,
  suited: ReadonlySet<string>,
): Promise<Cause[]> {
  const { from, to, environment } = question
  const name = sql`coalesce(nullif(c.original_environment, ''), c.environment, '')`
  const { rows } = await sql<Place>`select project, name, count(distinct id) as count from (
      select m.project_name as project, ${name} as name, c.cicd_deployment_id as id
      from project_mapping m inner join cicd_deployment_commits c on c.cicd_scope_id = m.row_id
      where m.${sql.id('table')} = 'cicd_scopes' and ${isAsked('m.project_name', question)} and c.result = 'SUCCESS'
        and coalesce(c.environment, '') <> ${environment} and c.finished_date between ${from} and ${to}
    ) elsewhere where name <> '' group by project, name order by name, project`.execute(context.database.kysely)
  const places = rows.filter((row) => suited.has(row.project) && !isPlainlyElsewhere(row.name))
  const causes = [...Map.groupBy(places, (place) => place.name)].map(([own, all]): Cause => {
    const projects = all.map(({ project }) => project)
    const cost = all.reduce((sum, { count }) => sum + Number(count), 0)
    return {
      kind: 'rule',
      sentence: `${counted(cost, 'deployment')} of ${namedFew(projects)} went to “${own.slice(0, 100)}”, which no rule maps to ${placeOf(question)}.`,
      remedy: `If that is ${placeOf(question)}, write a rule that maps it; ${PREVIEW}`,
      page: pageOf(projects, 'blueprint'),
      cost,
      details: detailsOf(all.map(({ project, count }) => `${project}: ${counted(Number(count), 'deployment')}`)),
    }
  })
  return causes.sort((one, other) => other.cost - one.cost).slice(0, MOST_PLACES)
}

async function incidentRules(context: Context, question: AttentionQuestion): Promise<Cause[]> {
  const { kysely } = context.database
  const { rows } = await sql<{ project: string }>`select distinct m.project_name as project from project_mapping m
    where m.${sql.id('table')} = 'boards' and ${isAsked('m.project_name', question)}
      and exists (select 1 from board_issues b where b.board_id = m.row_id) order by project`.execute(kysely)
  const all = rows.map(({ project }) => project)
  const unknown: string[] = []
  for (let start = 0; start < all.length; start += MOST_ASKED) {
    const some = all.slice(start, start + MOST_ASKED)
    const known = await projectsKnowingIncidents(context.database, some)
    unknown.push(...some.filter((project) => !known.has(project)))
  }
  return causeOf(context, question, unknown, {
    sentence: (names) => `No rule takes an issue of ${names} for an incident.`,
    remedy: `Write a rule that says which issues are incidents, or let your tools report incidents; ${PREVIEW}`,
    metric: changeFailureRate,
    rule: 'issueTypeIncident',
    count: sql`count(distinct b.issue_id) as count from project_mapping m inner join board_issues b on b.board_id = m.row_id
      where m.${sql.id('table')} = 'boards'`,
  })
}

interface Unmapped {
  readonly sentence: (names: string) => string
  readonly remedy: string
  /** The findings for this metric are folded, with the rule to write. */
  readonly metric: Metric
  readonly rule: string
  readonly count: Sql
}

/** One cause for all projects in which the same rule maps nothing. */
async function causeOf(
  context: Context,
  { environment, from, to }: AttentionQuestion,
  projects: readonly string[],
  { sentence, remedy, metric, rule, count }: Unmapped,
): Promise<Cause[]> {
  const [first] = projects
  if (first === undefined) return []
  const { database } = context
  const own = amongNames('m.project_name', projects)
  const { rows } = await sql<{ count: number }>`select ${count} and ${own}`.execute(database.kysely)
  const details: string[] = []
  for (const project of projects.slice(0, MOST_LOOKED_AT)) {
    const filter = { project, environment, from, to, policy: DEFAULT_POLICY }
    for (const { seen, remedy: raw, cure } of await findingsOf(database, metric, filter)) {
      if (cure.kind === 'rules' && cure.rules?.includes(rule)) details.push(`${project}: ${seen} ${raw}`)
    }
  }
  return [
    {
      kind: 'rule',
      sentence: sentence(namedFew(projects)),
      remedy,
      page: projects.length === 1 ? await rulePage(context, first, [rule]) : pageOf(projects),
      cost: Math.max(1, Number(rows[0]?.count ?? 0)),
      details: detailsOf(details),
    },
  ]
}

/** The scope config in which one of the rules can be set; without one, what the project collects. */
export async function rulePage(context: Context, project: string, wanted: readonly string[]): Promise<string> {
  const places = await rulePlacesOf(context, project)
  const place = places.find(({ rules }) => rules.some((rule) => wanted.includes(rule)))
  if (!place) return pageOf([project], 'blueprint')
  const { plugin, connectionId, scopeConfigId } = place
  return `/sources/${encodeURIComponent(plugin)}/${connectionId}/rules/${scopeConfigId ?? 'new'}?project=${encodeURIComponent(project)}`
}
