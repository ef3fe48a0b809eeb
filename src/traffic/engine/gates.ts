import { counted } from '../../basics/counted.ts'
import type { Database } from '../../database/database.ts'
import { RetryableError } from '../../errors.ts'
import type { Gate, Plan } from '../model/plan.ts'
import { gateWords } from '../model/words.ts'
import type { Health } from '../vendors/balancer.ts'
import { judgeSamples, type MetricGate, type Sample } from './metric-gates.ts'

type Verdict = 'pass' | 'fail' | 'inconclusive' | 'pending'

export interface GateResult {
  /** The kind of the gate, and what distinguishes it from others of its kind. */
  readonly gate: string
  readonly verdict: Verdict
  readonly message: string
  /** The gate's condition in words, with its limit. */
  readonly asks: string
}

interface GateContext {
  readonly database: Database
  readonly plan: Plan
  /** The step's span: from the moment when the load balancer followed it until its dwell time is over. */
  readonly since: Date
  readonly until: Date
  /** The time by the clock of AWS. */
  readonly now: Date
  readonly isApproved: boolean
  /** The target gets requests, which are answered with 503 if it has no targets. */
  readonly isUnderLoad: boolean
  health(): Promise<Health>
  /** The measurements for a metric gate since the step was verified, and whether they cover its dwell time. */
  samples(gate: MetricGate): Promise<{ readonly samples: readonly Sample[]; readonly isCovered: boolean }>
}

export function gateName(gate: Gate): string {
  if (gate.kind === 'cloudWatch') return `cloudWatch ${gate.metric}`
  return gate.kind === 'prometheus' && gate.name !== undefined ? `prometheus ${gate.name}` : gate.kind
}

/** Missing data is inconclusive, never a pass: the silence of a broken collector must not move traffic. */
export async function judgeGate(gate: Gate, context: GateContext): Promise<GateResult> {
  const result = (verdict: Verdict, message: string): GateResult => ({
    gate: gateName(gate),
    verdict,
    message,
    asks: gateWords(gate),
  })
  switch (gate.kind) {
    case 'approval':
      return context.isApproved ? result('pass', 'approved') : result('pending', 'waits for an approval')
    case 'targetsHealthy': {
      const health = await context.health().catch(unread)
      if ('unread' in health) return result('inconclusive', health.unread)
      const { healthy, total } = health
      if (total === 0) return result(context.isUnderLoad ? 'fail' : 'inconclusive', 'the target group has no targets')
      const text = `${healthy} of ${total} targets are healthy`
      if (healthy >= gate.minHealthy && healthy / total >= gate.minRatio) return result('pass', text)
      // In floating point, 0.1 × 30 is a little more than 3.
      const share = Math.ceil(gate.minRatio * total - 1e-9)
      return result('fail', `${text}, ${Math.max(gate.minHealthy, share)} needed`)
    }
    case 'incidents': {
      const { horizon, created } = await incidentsOf(context)
      if (created.length > gate.max)
        return result('fail', `${counted(created.length, 'incident')} opened, at most ${gate.max} allowed`)
      return result(...covered(horizon, context, `${counted(created.length, 'incident')} opened`, 'incidents'))
    }
    case 'cloudWatch':
    case 'prometheus': {
      const seen = await context.samples(gate).catch(unread)
      return 'unread' in seen
        ? result('inconclusive', seen.unread)
        : result(...judgeSamples(gate, seen.samples, seen.isCovered))
    }
    case 'failureRate': {
      const { horizon, failed, total } = await deploymentsOf(context)
      if (total === 0) return result('inconclusive', 'no deployment finished during the step')
      const text = `${failed} of ${total} deployments failed, at most ${gate.max * 100} % allowed`
      const [lower, upper] = wilson(failed, total)
      if (lower > gate.max) return result('fail', text)
      if (upper <= gate.max || (failed / total <= gate.max && total >= gate.minSamples))
        return result(...covered(horizon, context, text, 'deployments'))
      return result('inconclusive', `${text}; too few to be sure`)
    }
  }
}

/** Data that cannot be read at the moment says nothing. */
function unread(error: unknown): { readonly unread: string } {
  if (error instanceof RetryableError) return { unread: error.message }
  throw error
}

function covered(horizon: Date | undefined, { until }: GateContext, text: string, what: string): [Verdict, string] {
  if (horizon === undefined) return ['inconclusive', `the project has no source of ${what}`]
  if (horizon < until) return ['inconclusive', `${text}, but the data ends at ${horizon.toISOString()}`]
  return ['pass', text]
}

/** The bounds that contain the true rate with 95 % confidence (Wilson's interval). */
function wilson(failed: number, total: number): readonly [number, number] {
  const z = 1.96
  const rate = failed / total
  const middle = rate + (z * z) / (2 * total)
  const spread = z * Math.sqrt((rate * (1 - rate)) / total + (z * z) / (4 * total * total))
  const scale = 1 + (z * z) / total
  return [(middle - spread) / scale, (middle + spread) / scale]
}

const scopesOf = ({ database: { kysely }, plan }: GateContext, tables: readonly string[]) =>
  kysely
    .selectFrom('project_mapping')
    .select(['table', 'row_id'])
    .where('project_name', '=', plan.project)
    .where('table', 'in', tables)
    .execute()

const WEBHOOK_SCOPE = /^webhook:/

async function incidentsOf(context: GateContext): Promise<{ horizon: Date | undefined; created: readonly Date[] }> {
  const { kysely } = context.database
  const sources = await scopesOf(context, ['boards', 'repos'])
  if (sources.length === 0) return { horizon: undefined, created: [] }
  const ofProject = kysely
    .selectFrom('incidents')
    .where((where) =>
      where.or(
        sources.map(({ table, row_id }) => where.and([where('table', '=', table), where('scope_id', '=', row_id)])),
      ),
    )
  const rows = await ofProject
    .select('created_date')
    .where('created_date', '>=', context.since)
    .where('created_date', '<=', context.until)
    .execute()
  const { newest } = await ofProject.select(({ fn }) => fn.max('updated_at').as('newest')).executeTakeFirstOrThrow()
  return {
    horizon: await horizonOf(context, sources, newest),
    created: rows.map(({ created_date }) => created_date as Date),
  }
}

async function deploymentsOf(
  context: GateContext,
): Promise<{ horizon: Date | undefined; failed: number; total: number }> {
  const { kysely } = context.database
  // Weir's own records say nothing about whether the project's source still reports.
  const scopes = (await scopesOf(context, ['cicd_scopes'])).filter(({ row_id }) => !row_id.startsWith('weir:'))
  if (scopes.length === 0) return { horizon: undefined, failed: 0, total: 0 }
  const ofProject = kysely
    .selectFrom('cicd_deployments')
    .where(
      'cicd_scope_id',
      'in',
      scopes.map(({ row_id }) => row_id),
    )
    .where('environment', '=', context.plan.environment)
    // Leaves out rows that another row stands for, because both report the same rollout.
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('_weir_rollouts')
            .select('deployment_id')
            .where('project_name', '=', context.plan.project)
            .whereRef('deployment_id', '=', 'cicd_deployments.id')
            .where('is_counted', '=', false),
        ),
      ),
    )
  const rows = await ofProject
    .select(['id', 'result', 'finished_date'])
    .where('finished_date', '>=', context.since)
    .where('finished_date', '<=', context.until)
    .where('result', 'in', ['SUCCESS', 'FAILURE'])
    .orderBy('finished_date')
    .execute()
  const failed = new Set(rows.filter(({ result }) => result === 'FAILURE').map(({ id }) => id))
  // An incident counts against the deployment before it, as the change failure rate does.
  for (const created of (await incidentsOf(context)).created) {
    const cause = rows.findLast(({ finished_date }) => finished_date !== null && finished_date <= created)
    if (cause !== undefined) failed.add(cause.id)
  }
  const { newest } = await ofProject.select(({ fn }) => fn.max('updated_at').as('newest')).executeTakeFirstOrThrow()
  return { horizon: await horizonOf(context, scopes, newest), failed: failed.size, total: rows.length }
}

/** The time up to which the data are known to be complete: webhooks push at once, other data are as old as their last collection. */
async function horizonOf(
  context: GateContext,
  scopes: readonly { row_id: string }[],
  newest: Date | null,
): Promise<Date> {
  if (scopes.some(({ row_id }) => WEBHOOK_SCOPE.test(row_id))) return context.now
  const { kysely } = context.database
  const { collected } = await kysely
    .selectFrom('_devlake_pipelines')
    .innerJoin('_devlake_blueprints', '_devlake_blueprints.id', '_devlake_pipelines.blueprint_id')
    .where('_devlake_blueprints.project_name', '=', context.plan.project)
    .where('_devlake_pipelines.status', '=', 'TASK_COMPLETED')
    .select(({ fn }) => fn.max('_devlake_pipelines.began_at').as('collected'))
    .executeTakeFirstOrThrow()
  return new Date(Math.max(collected?.getTime() ?? 0, newest?.getTime() ?? 0))
}
