/** Previews what rules about runs, jobs and environments would make of the stored ones. */
import { sql } from 'kysely'
import { among } from '../../database/pieces.ts'
import { deliveryOf } from '../../domain/deliveries.ts'
import type { Sql } from '../calculate/calculation.ts'
import {
  type Columns,
  type Decision,
  hasRule,
  matcherOf,
  own,
  type PatternName,
  type Rules,
  ruleAfter,
  type Source,
  type Subject,
  type Subjects,
} from './preview-rules.ts'

const PAGE = 2000
const RULES = ['deploymentPattern', 'productionPattern', 'productionBranchPattern'] as const

export function runSources(subjects: Subjects, rules: Rules): Source[] {
  const scopes = own('cicd_scopes', subjects)
  for (const name of RULES) matcherOf(rules[name] ?? '', name)
  const pipelines = sql`run.id, run.name, run.id as pipeline, run.cicd_scope_id as scope, run.type, run.environment
    from cicd_pipelines run where run.cicd_scope_id in (${scopes})`
  // Jobs of some sources name their scope in another way, so the scope is taken from their run.
  const jobs = sql`run.id, run.name, p.id as pipeline, p.cicd_scope_id as scope, run.type, run.environment
    from cicd_tasks run inner join cicd_pipelines p on p.id = run.pipeline_id where p.cicd_scope_id in (${scopes})`
  const runs = (table: string, columns: Sql, isJob: boolean): Source => ({
    table,
    pageSize: PAGE,
    rows: (after) => sql`select ${columns} and run.id > ${after} order by run.id limit ${sql.lit(PAGE)}`,
    more: {
      by: 'pipeline',
      read: (ids) => sql`select pipeline_id as id, branch as text from cicd_pipeline_commits
        where ${among(sql`pipeline_id`, ids)}`,
    },
    // A run that has no jobs is stored as its own only job, with the same id.
    decide: (subject, actual) => decideRun(rules, subject, isJob && subject.row.id !== subject.row.pipeline, actual),
  })
  const isAboutRuns = RULES.some((name) => rules[name] !== undefined)
  return [
    ...(isAboutRuns ? [runs('cicd_tasks', jobs, true), runs('cicd_pipelines', pipelines, false)] : []),
    ...environmentSources(scopes, rules),
  ]
}

function decideRun(rules: Rules, { row, inForce, more }: Subject, isJob: boolean, actual?: Columns): Decision {
  const { id = '', name = '', type = '', environment = '' } = row
  const isGiven = (rule: PatternName) => rules[rule] !== undefined && hasRule(inForce, rule)
  const after = (rule: PatternName) => ruleAfter(rules, inForce, rule)
  const [deployment, production = null, productionBranch = null] = RULES.map(after)
  // Pipelines of some tools have only ids and no names. Then patterns are matched against their branch.
  const names = !isJob && name.startsWith(id) ? more : [name]
  const decided = deliveryOf(
    { deployment: deployment ?? null, production, productionBranch },
    {
      names,
      places: isJob ? names : [...names, ...more],
      branches: more,
      isJob,
      isProductionNamed: inForce?.isAllProduction === false,
    },
  )
  const isBranchGiven = isGiven('productionBranchPattern')
  const changesType = isGiven('deploymentPattern') || isBranchGiven || (isGiven('productionPattern') && !deployment)
  const changesEnvironment = isGiven('productionPattern') || isBranchGiven
  const kept = deployment === undefined && type !== '' ? type : decided.type
  const next = {
    type: actual?.type ?? (changesType && (deployment !== undefined || isBranchGiven) ? kept : type),
    environment: actual?.environment ?? (changesEnvironment ? decided.environment : environment),
  }
  const before = (rule: PatternName) => inForce?.rules[rule] || ''
  const isBranchChanged = isBranchGiven && rules.productionBranchPattern !== before('productionBranchPattern')
  const isBoth = (run: { readonly type: string; readonly environment: string }) =>
    run.type === 'DEPLOYMENT' && run.environment === 'PRODUCTION'
  const wasByBranch = before('productionBranchPattern') !== '' && before('deploymentPattern') === ''
  const effects = [
    {
      rule: 'deploymentPattern',
      isTold: isGiven('deploymentPattern'),
      was: type === 'DEPLOYMENT' && !wasByBranch,
      is: next.type === 'DEPLOYMENT' && deployment !== null,
    },
    {
      rule: 'productionPattern',
      // A change that comes from a branch pattern is reported under `productionBranchPattern` instead.
      isTold:
        isGiven('productionPattern') &&
        !(isBranchChanged && inForce && rules.productionPattern === before('productionPattern')),
      was: environment === 'PRODUCTION',
      is: next.environment === 'PRODUCTION',
    },
    {
      rule: 'productionBranchPattern',
      isTold: isBranchGiven && (isBranchChanged || rules.productionBranchPattern !== ''),
      was: isBoth({ type, environment }),
      is: isBoth(next),
    },
  ]
  return {
    after: next,
    effects: effects.filter(({ isTold }) => isTold).map(({ rule, was, is }) => ({ rule, was, is, name })),
  }
}

function environmentSources(scopes: Sql, rules: Rules): Source[] {
  const isProduction = matcherOf(rules.envNamePattern ?? '', 'envNamePattern')
  if (rules.envNamePattern === undefined) return []
  return ['cicd_deployments', 'cicd_deployment_commits'].map((table) => ({
    table,
    pageSize: PAGE,
    rows: (after) => sql`select id, max(original_environment) as name, max(cicd_scope_id) as scope,
      max(environment) as environment
      from ${sql.table(table)} where cicd_scope_id in (${scopes}) and coalesce(subtask_name, '') = ''
      and id > ${after} group by id order by id limit ${sql.lit(PAGE)}`,
    decide: ({ row: { name = '', environment = '' }, inForce }, actual) => {
      if (!hasRule(inForce, 'envNamePattern')) return { after: {}, effects: [] }
      const after = actual?.environment ?? (isProduction?.(name) ? 'PRODUCTION' : name)
      const effect = { was: environment === 'PRODUCTION', is: after === 'PRODUCTION' }
      // A deployment counts once, however many commits it has.
      const effects = table === 'cicd_deployments' ? [{ rule: 'envNamePattern', name, ...effect }] : []
      return { after: { environment: after }, effects }
    },
  }))
}
