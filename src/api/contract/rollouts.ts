import { z } from 'zod'
import { LONGEST_PROJECT_NAME } from '../../control-plane/projects/projects.ts'
import { ROLLOUT_REASONS, type RolloutReason } from '../../metrics/calculate/join-rollouts.ts'
import { bounded } from '../../plugin-kit/spec/request-values.ts'
import { paging, time, timeOrNull } from './common.ts'

const reasons = Object.keys(ROLLOUT_REASONS) as [RolloutReason, ...RolloutReason[]]
const project = bounded(LONGEST_PROJECT_NAME).min(1).meta({ description: 'Name of the project.' })

export const rolloutCounting = z
  .enum(['once', 'every-row'])
  .meta({ description: 'Whether a rollout that several rows tell of counts once, or each row counts, as in DevLake.' })

export const rolloutRecord = z
  .object({
    id: z.string().meta({ description: 'Id of the deployment that stands for it.' }),
    rows: z
      .array(
        z.object({
          id: z.string().meta({ description: 'Of `cicd_deployments`.' }),
          stands: z.boolean().meta({ description: 'Whether it stands for the rollout.' }),
          counts: z.boolean(),
          reason: z.enum(reasons),
          why: z.string().meta({ description: 'The reason in a sentence.' }),
          title: z.string(),
          url: z.string(),
          source: z.string().meta({ description: 'Name of the scope that it comes from.' }),
          kind: z.enum(['deployment', 'run']).meta({
            description: 'Recorded by the tool as a deployment, or made from the run of a pipeline.',
          }),
          environment: z.string(),
          result: z.string(),
          finishedAt: timeOrNull,
          commit: z.string(),
          repository: z.string(),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'Rollout', description: 'Rows that tell of one rollout, first the one that stands for it.' })

export const rolloutsQuery = z.object({ project, ...paging })
export const rolloutsRecord = z.object({
  project: z.string(),
  policy: rolloutCounting,
  rules: z
    .array(
      z.object({
        join: z.array(z.string()).readonly().optional(),
        apart: z.array(z.string()).readonly().optional(),
        problem: z.string().nullable().meta({ description: 'Why it does nothing; null: it is followed.' }),
      }),
    )
    .meta({ description: '`rolloutRules` of the policy of the project.' }),
  count: z.int().meta({ description: 'Rollouts that more than one row tells of.' }),
  rollouts: z.array(rolloutRecord).readonly().meta({ description: 'One page of them, the latest first.' }),
})

export const changesQuery = z.object({ project })
const numbers = z.object({ value: z.number().nullable(), counted: z.int() })
export const changesRecord = z.object({
  changes: z.array(
    z.object({
      name: z.string(),
      at: time.meta({ description: 'From this moment on, the numbers are counted the new way.' }),
      reason: z.string(),
      keys: z.array(
        z.object({ metric: z.string(), title: z.string(), unit: z.string(), before: numbers, after: numbers }),
      ),
    }),
  ),
})
