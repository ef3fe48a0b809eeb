/** Finds collected items that do not count, named as in the tools that they come from, and says what to change if they should count. */
import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import type { Database } from '../../database/database.ts'
import { mapping, type Sql } from '../calculate/calculation.ts'
import type { Material, Metric, MetricFilter } from '../metric.ts'
import { isPlainlyElsewhere } from '../policy/environment-names.ts'
import { stands } from '../policy/rollouts.ts'
import { buildsOf, deploymentCommitsOf, incidentsOf, issuesOf, pullRequestsOf } from '../sources.ts'
import type { Cure } from './remedies.ts'

export interface Finding {
  readonly seen: string
  readonly remedy: string
  readonly cure: Cure
}

const MOST_NAMES = 8
const PREVIEW = 'The preview of the rules shows the effect before you save them.'
const COLLECT: Cure = { kind: 'collection' }
const WEBHOOK = 'or let your tools report them to a webhook connection'

interface Seen {
  readonly name: string | null
  readonly count: number
}

const were = (count: number, word: string) => `${counted(count, word)} ${count === 1 ? 'was' : 'were'}`
const quoted = (name: string | null) => `\`${(name ?? '').slice(0, 100)}\``
const listed = (names: readonly Seen[]) => names.map(({ name, count }) => `${quoted(name)} (${count})`).join(', ')

/** Counts the items of each name, the most frequent first. */
async function frequent({ kysely }: Database, name: Sql, what: Sql, from: Sql, limit = MOST_NAMES): Promise<Seen[]> {
  const { rows } = await sql<Seen>`select name, count(*) as count from (select distinct ${name} as name, ${what} as what
    ${from}) each_one group by name order by count(*) desc, name limit ${sql.lit(limit)}`.execute(kysely)
  return rows.map(({ name: found, count }) => ({ name: found, count: Number(count) }))
}

async function countOf({ kysely }: Database, what: Sql, from: Sql): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(distinct ${what}) as count ${from}`.execute(kysely)
  return Number(rows[0]?.count)
}

/** Returns a pattern that matches exactly this name. */
const pattern = (name: string) => `(?i)^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`

const LOOK: Readonly<Record<Material, (database: Database, filter: MetricFilter) => Promise<Finding[]>>> = {
  async deployments(database, filter) {
    const id = sql`c.cicd_deployment_id`
    const { from, where: own } = deploymentCommitsOf(filter)
    const where = sql`${own} and ${stands(filter, id)}`
    const all = await countOf(database, id, sql`${from} where ${where}`)
    if (all === 0) return [await noDeployments(database, filter)]
    const word = filter.environment
    const elsewhere = sql`${from} where ${where} and c.result = 'SUCCESS' and coalesce(c.environment, '') <> ${word}`
    const place = sql`coalesce(nullif(c.original_environment, ''), c.environment, '')`
    const places = await frequent(database, place, id, elsewhere)
    const successful = await countOf(database, id, sql`${from} where ${where} and c.result = 'SUCCESS'`)
    const names = await frequent(database, sql`c.name`, id, sql`${elsewhere} and ${place} = ''`, 3)
    const right = await countOf(database, id, sql`${from} where ${where} and c.environment = ${word}`)
    // Where deployments to production are known, those to staging raise no question.
    const isQuestion = ({ name }: Seen) =>
      right === 0 || !(name ? isPlainlyElsewhere(name) : names.every((each) => isPlainlyElsewhere(each.name ?? '')))
    return [
      ...(successful === 0
        ? [
            {
              seen: `${were(all, 'deployment')} seen, none of which succeeded.`,
              remedy: 'Look at their results in the tool that made them; the items list them.',
              cure: { kind: 'items' as const, reason: 'not_successful' as const },
            },
          ]
        : []),
      ...places.filter(isQuestion).map(({ name, count }) =>
        name
          ? {
              seen: `${counted(count, 'deployment')} went to ${quoted(name)}, which no rule maps to ${word}.`,
              remedy: `If that is ${word}, let envNamePattern of the scope config match it, for example ${pattern(name)}; where deployments are made from builds, productionPattern. ${PREVIEW}`,
              cure: { kind: 'rules' as const, rules: ['envNamePattern', 'productionPattern'], name },
            }
          : {
              seen: `${were(count, 'deployment')} made from builds such as ${names.map((each) => quoted(each.name)).join(', ')}, which no rule maps to ${word}.`,
              remedy: `If they went to ${word}, let productionPattern of the scope config match their names, or productionBranchPattern their branches, or leave both empty. ${PREVIEW}`,
              cure: { kind: 'rules' as const, rules: ['productionPattern', 'productionBranchPattern'] },
            },
      ),
    ]
  },

  async incidents(database, filter) {
    const own = incidentsOf({ ...filter, dialect: database.dialect, isExplained: false })
    if ((await countOf(database, sql`i.id`, sql`${own.from} where ${own.where}`)) > 0) return []
    const { from, where } = issuesOf(filter)
    const all = await countOf(database, sql`i.id`, sql`${from} where ${where}`)
    if (all === 0) {
      const remedy = `Add a board or a repository with issues to the project (entity TICKET), ${WEBHOOK}.`
      return [{ seen: 'No issues and no incidents were collected.', remedy, cure: COLLECT }]
    }
    const type = sql`coalesce(nullif(i.original_type, ''), nullif(i.type, ''), 'no type')`
    const types = await frequent(database, type, sql`i.id`, sql`${from} where ${where}`)
    return [
      {
        seen: `${were(all, 'issue')} seen, of the types ${listed(types)}; no rule takes any of them for an incident.`,
        remedy: `Let issueTypeIncident (labels), typeMappings (types of Jira) or issueTextIncident (title and description) of the scope config name those that are incidents, ${WEBHOOK}. ${PREVIEW}`,
        cure: { kind: 'rules', rules: ['issueTypeIncident', 'typeMappings', 'issueTextIncident'] },
      },
    ]
  },

  async 'pull requests'(database, filter) {
    const { from, where } = pullRequestsOf(filter)
    if ((await countOf(database, sql`pr.id`, sql`${from} where ${where}`)) > 0) return []
    const remedy = 'Add a repository to the project, with the entities CODE and CODEREVIEW, and run the project.'
    return [{ seen: 'No pull requests were collected.', remedy, cure: COLLECT }]
  },

  async history(database, filter) {
    const { from, where } = deploymentCommitsOf(filter)
    const deployed = sql`${from} where ${where} and c.result = 'SUCCESS' and c.environment = ${filter.environment}`
    const all = await countOf(database, sql`c.commit_sha`, deployed)
    const known = sql`${deployed} and exists (select 1 from commit_parents p where p.commit_sha = c.commit_sha)`
    if (all < 2 || (await countOf(database, sql`c.commit_sha`, known)) > 0) return []
    const seen = `The git history of ${counted(all, 'deployed commit')} is not known, so nothing tells which pull requests came with them.`
    return [{ seen, ...((await hasRepository(database, filter)) ? UNREAD : NO_REPOSITORY) }]
  },

  async issues(database, filter) {
    const { from, where } = issuesOf(filter)
    if ((await countOf(database, sql`i.id`, sql`${from} where ${where}`)) > 0) return []
    const remedy = 'Add a board to the project (entity TICKET), and run it.'
    return [{ seen: 'No issues were collected.', remedy, cure: COLLECT }]
  },

  async builds(database, filter) {
    const { from, where } = buildsOf(filter)
    if ((await countOf(database, sql`p.id`, sql`${from} where ${where}`)) > 0) return []
    const remedy = 'Add a source of builds to the project (entity CICD), and run the project.'
    return [{ seen: 'No builds were collected.', remedy, cure: COLLECT }]
  },
}

/** Only repositories with an address can be cloned. One that is known only from messages has none. */
async function hasRepository(database: Database, { project }: MetricFilter): Promise<boolean> {
  const { from, where } = mapping('repo', 'repos', project)
  const cloned = sql`from ${from} inner join repos r on r.id = repo.row_id where ${where} and coalesce(r.url, '') <> ''`
  return (await countOf(database, sql`r.id`, cloned)) > 0
}
const UNREAD: Omit<Finding, 'seen'> = {
  remedy: 'Look at the gitextractor tasks of the last run: they name the repository and why it could not be cloned.',
  cure: { kind: 'run' },
}
const NO_REPOSITORY: Omit<Finding, 'seen'> = {
  remedy: 'Add the repository that is deployed to the project, with the entity CODE, and run the project.',
  cure: COLLECT,
}

async function noDeployments(database: Database, filter: MetricFilter): Promise<Finding> {
  const { from, where } = buildsOf(filter)
  const builds = await countOf(database, sql`p.id`, sql`${from} where ${where}`)
  if (builds === 0) {
    return {
      seen: 'No deployments and no builds were collected.',
      remedy: `Add a source of deployments to the project (entity CICD), ${WEBHOOK}.`,
      cure: COLLECT,
    }
  }
  const names = await frequent(database, sql`p.name`, sql`p.id`, sql`${from} where ${where}`)
  const jobs = await frequent(
    database,
    sql`t.name`,
    sql`t.id`,
    sql`${from} inner join cicd_tasks t on t.pipeline_id = p.id where ${where}`,
  )
  const refs = await frequent(
    database,
    sql`c.branch`,
    sql`p.id`,
    sql`${from} inner join cicd_pipeline_commits c on c.pipeline_id = p.id where ${where} and c.branch <> ''`,
    3,
  )
  const branches = refs.length > 0 ? `, such as ${listed(refs)}` : ''
  const ofJobs = jobs.length > 0 ? `, with jobs ${listed(jobs)}` : ''
  return {
    seen: `${were(builds, 'build')} seen, called ${listed(names)}${ofJobs}; no rule takes any of them for a deployment.`,
    remedy: `Let deploymentPattern of the scope config match the names of those that deploy, or productionBranchPattern the branches${branches}, ${WEBHOOK}. ${PREVIEW}`,
    cure: { kind: 'rules', rules: ['deploymentPattern', 'productionBranchPattern'] },
  }
}

export async function findingsOf(database: Database, metric: Metric, filter: MetricFilter): Promise<Finding[]> {
  const found: Finding[] = []
  for (const material of metric.madeOf) found.push(...(await LOOK[material](database, filter)))
  return found
}
