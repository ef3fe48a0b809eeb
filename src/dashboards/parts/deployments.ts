/** Panels of deployments, for any population of deployed commits (`c`). */
import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { ADDRESS, count, moment, seconds, TIME, text } from '../columns.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import { countIf, mean, named } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import type { Population } from '../populations.ts'
import { eventsByInterval, isInRange } from '../statements.ts'

export const remedy = 'No deployment is known in this range: collect a source of deployments, or choose a longer range.'

/**
 * Returns one row for each deployment: `id`, `at`, `environment`, `place`, `result`, `title`, `url`, `commits`, `duration`,
 * `repository`. As in the key metrics, a deployment of several repositories counts as one to production if at least one of them
 * got there.
 */
export const deploymentRows = (population: Population, query: PanelQuery): Sql => {
  const { from, where } = population(query)
  const fits = sql`c.result = 'SUCCESS' and c.environment = 'PRODUCTION'`
  const ofThese = (column: Sql) => sql`coalesce(max(case when ${fits} then ${column} end), max(${column}))`
  return sql`select c.cicd_deployment_id as id, ${ofThese(sql`c.finished_date`)} as at,
    ${ofThese(sql`coalesce(c.environment, '')`)} as environment,
    max(coalesce(nullif(c.original_environment, ''), c.environment, '')) as place, ${ofThese(sql`coalesce(c.result, '')`)} as result,
    max(coalesce(nullif(c.display_title, ''), c.name, '')) as title, max(c.url) as url, count(*) as commits,
    max(c.duration_sec) as duration, max(c.repo_id) as repository
    ${from} where ${where} group by c.cicd_deployment_id`
}

const environment = named('no environment', sql`environment`)
const result = named('no result', sql`result`)

export const deploymentResults = (population: Population): Panel => ({
  name: 'deployment-results',
  title: 'Deployments by environment and result',
  definition:
    'All deployments finished in the range, including those that no key counts: the keys count only SUCCESS in PRODUCTION. Place is the name of the environment in the tool.',
  look: 'table',
  columns: {
    environment: text('Environment'),
    place: text('Place'),
    result: text('Result'),
    deployments: count('Deployments'),
    duration: seconds('Mean duration'),
    latest: moment('Latest'),
  },
  statement: (
    query,
  ) => sql`select environment, place, result, count(*) as deployments, ${mean(query, sql`duration`)} as duration,
    max(at) as latest from (select ${environment} as environment, ${named('no name', sql`place`)} as place, ${result} as result,
      duration, at from (${deploymentRows(population, query)}) own where ${isInRange(query, sql`at`)}) each_one
    group by environment, place, result order by deployments desc, environment, place, result limit 500`,
  remedy,
})

export const deploymentsByRepository = (population: Population): Panel => ({
  name: 'deployments-by-repository',
  title: 'Deployments by repository',
  definition:
    'Successful deployments to production finished in the range, by repository. A deployment of several repositories counts for each of them.',
  look: 'ranking',
  better: 'higher',
  columns: { repository: text('Repository'), value: count('Deployments'), latest: moment('Latest') },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select ${named('no repository', sql`repos.name`, sql`c.repo_url`)} as repository, c.cicd_deployment_id, c.finished_date
      ${from} left join repos on repos.id = c.repo_id
      where ${where} and c.result = 'SUCCESS' and c.environment = 'PRODUCTION' and ${isInRange(query, sql`c.finished_date`)}`
    return sql`select repository, count(distinct cicd_deployment_id) as value, max(finished_date) as latest
      from (${rows}) each_one group by repository order by value desc, repository limit 50`
  },
  remedy: REMEDIES.deployments,
})

export const deploymentFlow = (population: Population): Panel => ({
  name: 'deployment-flow',
  title: 'Deployments by result',
  definition: 'Deployments to any environment by the date of their finish, and how many of them failed.',
  look: 'bars',
  columns: { time: TIME, succeeded: count('Succeeded'), failed: count('Failed'), others: count('Others') },
  statement: (query) => {
    const rows = (condition: Sql) => sql`select at from (${deploymentRows(population, query)}) own where ${condition}`
    return eventsByInterval(query, {
      succeeded: rows(sql`result = 'SUCCESS'`),
      failed: rows(sql`result = 'FAILURE'`),
      others: rows(sql`result not in ('SUCCESS', 'FAILURE')`),
    })
  },
  remedy,
})

export const latestDeployments = (population: Population): Panel => ({
  name: 'latest-deployments',
  title: 'Deployments, the latest first',
  definition: 'Deployments finished in the range, to any environment and with any result, one row each.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    at: moment('Finished'),
    title: text('Deployment', 'url'),
    environment: text('Environment'),
    result: text('Result'),
    repository: text('Repository'),
    commits: count('Commits'),
    duration: seconds('Duration'),
    url: ADDRESS,
  },
  statement: (query) => sql`select own.at, own.title, ${environment} as environment, ${result} as result,
    coalesce(repos.name, '') as repository, own.commits, own.duration, own.url
    from (${deploymentRows(population, query)}) own left join repos on repos.id = own.repository
    where ${isInRange(query, sql`own.at`)} order by own.at desc, own.id limit 500`,
  remedy,
})

export const deploymentsCount = (population: Population): Panel => ({
  name: 'deployments',
  title: 'Deployments to production',
  definition:
    'Successful deployments to production that finished in the range. A deployment of several repositories counts once.',
  look: 'number',
  width: 6,
  height: 5,
  better: 'higher',
  columns: { value: count('Deployments'), others: count('Others') },
  statement: (
    query,
  ) => sql`select coalesce(${countIf(sql`environment = 'PRODUCTION' and result = 'SUCCESS'`)}, 0) as value,
    coalesce(${countIf(sql`environment <> 'PRODUCTION' or result <> 'SUCCESS'`)}, 0) as others
    from (${deploymentRows(population, query)}) own where ${isInRange(query, sql`at`)}`,
  remedy: REMEDIES.deployments,
})
