/** Makes deployments and their commits from pipelines that deployed, or that contain a job which did. */
import { sql } from 'kysely'
import { cicdDeploymentCommits, cicdDeployments } from '../../domain/devops.ts'
import {
  type Calculation,
  copied,
  type Forgetting,
  mappedByNoOther,
  originAsIs,
  raw,
  type Sql,
  scopesOf,
  word,
  words,
} from './calculation.ts'
import { chainDeployments, unchainDeployments } from './previous-deployments.ts'
import { inTurn, remove, replace } from './results.ts'

const FINISHED = sql`('SUCCESS', 'FAILURE')`

/** The pipelines of the scopes that count as deployments, each with its environment. */
const deployingPipelines = (scopes: Sql) => sql`with jobs as (
    select p.id,
      max(case when t.type = 'DEPLOYMENT' then 1 else 0 end) as deploys,
      max(case when t.environment = 'PRODUCTION' then 1 else 0 end) as in_production,
      max(case when t.environment = 'STAGING' then 1 else 0 end) as in_staging,
      max(case when t.environment = 'TESTING' then 1 else 0 end) as in_testing
    from cicd_pipelines p left join cicd_tasks t on t.pipeline_id = p.id and t.result in ${FINISHED}
    where p.cicd_scope_id in (${scopes}) and p.result in ${FINISHED}
    group by p.id
  ), deploying as (
    select p.*, case
        when coalesce(p.environment, '') <> '' then p.environment
        when jobs.in_production = 1 then 'PRODUCTION'
        when jobs.in_staging = 1 then 'STAGING'
        when jobs.in_testing = 1 then 'TESTING'
        else '' end as deployed_to
    from jobs inner join cicd_pipelines p on p.id = jobs.id
    where p.type = 'DEPLOYMENT' or jobs.deploys = 1
  )`

const DEPLOYMENTS = 'dora.generateDeployments'
const COMMITS = 'dora.generateDeploymentCommits'
/** The rows that this subtask made from pipelines of the scopes. */
const madeBy = (subtask: string, scopes: Sql) => sql`subtask_name = ${subtask} and cicd_scope_id in (${scopes})`

/**
 * The repository of the commit `c` of the pipeline `d`. Some tools write their own id, or an address, into `repo_id`, which then
 * matches no repository. Then it is the repository that is the scope of the pipeline, or one with the same address. If there is
 * neither, `repo_id` is kept.
 */
const REPOSITORY = {
  id: sql`coalesce(named.id, scope.id, same.id, c.repo_id, '')`,
  joins: sql`left join repos named on named.id = c.repo_id
    left join repos scope on scope.id = d.cicd_scope_id
      and right(scope.id, char_length(c.repo_id) + 1) = concat(':', c.repo_id)
    left join (select url, min(id) as id from repos where coalesce(url, '') <> '' group by url) same on same.url = c.repo_url`,
}

const SHARED = ['result', 'status', 'original_status', 'original_result'] as const

export const generateDeployments: Calculation = ({ database, options }) => {
  const scopes = scopesOf(options)
  return inTurn(database, cicdDeployments.name, (inside) =>
    replace(inside, {
      table: cicdDeployments,
      within: [madeBy(DEPLOYMENTS, scopes)],
      with: deployingPipelines(scopes),
      columns: {
        ...words('d', 'id', 'cicd_scope_id', 'name', 'display_title', 'url', ...SHARED),
        environment: sql`d.deployed_to`,
        original_environment: sql`''`,
        ...copied('d', 'created_date', 'queued_date', 'started_date', 'finished_date', 'queued_duration_sec'),
        duration_sec: sql`coalesce(d.duration_sec, 0)`,
        subtask_name: sql`${DEPLOYMENTS}`,
        ...originAsIs('d'),
      },
      from: sql`from deploying d where 1 = 1`,
    }),
  )
}

export const generateDeploymentCommits: Calculation = ({ database, options }) => {
  const scopes = scopesOf(options)
  const begun = raw(database.dialect.secondsBefore('d.finished_date', 'floor(d.duration_sec)'))
  return inTurn(database, cicdDeploymentCommits.name, async (inside) => {
    const made = await replace(inside, {
      table: cicdDeploymentCommits,
      within: [madeBy(COMMITS, scopes)],
      with: deployingPipelines(scopes),
      columns: {
        id: sql`left(concat(c.pipeline_id, ':', ${word('c.repo_url')}), 255)`,
        cicd_deployment_id: sql`c.pipeline_id`,
        ...words('d', 'cicd_scope_id', ...SHARED),
        // Cut to 255 characters, because the column is shorter than its source.
        name: sql`left(${word('d.name')}, 255)`,
        display_title: sql`coalesce(nullif(c.display_title, ''), d.display_title, '')`,
        url: sql`coalesce(nullif(c.url, ''), d.url, '')`,
        environment: sql`d.deployed_to`,
        original_environment: sql`''`,
        ...copied('d', 'created_date', 'finished_date', 'queued_duration_sec'),
        queued_date: sql`null`,
        started_date: sql`case when d.started_date is not null then d.started_date
          when d.finished_date is not null and d.duration_sec is not null then ${begun} end`,
        duration_sec: sql`coalesce(d.duration_sec, 0)`,
        ...words('c', 'commit_sha', 'commit_msg', 'repo_url'),
        repo_id: REPOSITORY.id,
        ref_name: word('c.branch'),
        prev_success_deployment_commit_id: sql`''`,
        subtask_name: sql`${COMMITS}`,
        ...originAsIs('c'),
      },
      from: sql`from deploying d inner join cicd_pipeline_commits c on c.pipeline_id = d.id ${REPOSITORY.joins} where 1 = 1`,
    })
    // In the same transaction, so that readers never see deployments without their predecessors.
    await chainDeployments(inside, scopes)
    return made
  })
}

export const forgetDeployments: Forgetting = (inside, project) =>
  remove(inside, cicdDeployments, madeBy(DEPLOYMENTS, mappedByNoOther('cicd_scopes', project)))

/** Deployments that a tool reported itself are kept, but the predecessors that were calculated for them are removed. */
export const forgetDeploymentCommits: Forgetting = async (inside, project) => {
  const scopes = mappedByNoOther('cicd_scopes', project)
  const made = await remove(inside, cicdDeploymentCommits, madeBy(COMMITS, scopes))
  return made + (await unchainDeployments(inside, scopes))
}
