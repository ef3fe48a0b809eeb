/** For people who write schedules and plans by hand: what they mean, and what is wrong with them. */
import { z } from 'zod'
import { lookAtSchedule } from '../../control-plane/blueprints/schedule-words.ts'
import { checkPlan, plannablePlugins } from '../../control-plane/plan/check-plan.ts'
import { plan } from '../../control-plane/records.ts'
import { bounded, example, wholeNumber } from '../../plugin-kit/spec/request-values.ts'
import type { Routes } from '../api.ts'
import { EXAMPLE_PLAN } from '../contract/blueprint-body.ts'
import { answers } from '../contract/common.ts'

const tags = ['blueprints']
const MOST_RUNS = 20

export const planRoutes: Routes = (api, { plugins }) => {
  const schedule = z.object({
    cron: bounded(255).meta({ description: 'Five fields in UTC, or a word such as @daily.' }),
    count: wholeNumber(1, MOST_RUNS).default(5),
  })
  api.get(
    '/v1/schedules/next',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'A schedule in words, and its next runs',
        querystring: schedule,
        response: answers(200, z.object({ sentence: z.string(), runs: z.array(z.date()) })),
      },
    },
    async ({ query: { cron, count } }) => {
      const { sentence, runs } = lookAtSchedule(cron, count)
      return { sentence, runs: [...runs] }
    },
  )

  const option = z.object({
    name: z.string(),
    kind: z.enum(['text', 'number', 'flag', 'list', 'object']),
    label: z.string(),
    isRequired: z.boolean(),
    example: z.any().optional(),
  })
  const words = z.array(
    z.object({
      plugin: z.string(),
      title: z.string(),
      subtasks: z.array(z.object({ name: z.string(), isDefault: z.boolean() })),
      options: z.array(option),
      template: plan.element.element,
    }),
  )
  api.get(
    '/v1/plans/plugins',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What a plan can contain: plugins with their subtasks, options and a task to start from',
        response: answers(200, words),
      },
    },
    async () => plannablePlugins(plugins) as z.output<typeof words>,
  )

  const problems = z.array(
    z.object({
      path: z.array(z.union([z.string(), z.int()])).meta({ description: 'Stage and task, from 0, and the field.' }),
      message: z.string(),
      severity: z
        .enum(['error', 'odd'])
        .meta({ description: 'A plan with warnings can be saved, but will likely fail.' }),
    }),
  )
  const body = z
    .strictObject({ plan: z.any().meta({ description: 'Any text.' }) })
    .meta(example({ plan: EXAMPLE_PLAN }))
  api.post(
    '/v1/plans/check',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'Errors and warnings about a plan, each with its place',
        body,
        response: answers(200, problems),
      },
    },
    async ({ body: { plan: input } }) => checkPlan(plugins, input).map((each) => ({ ...each, path: [...each.path] })),
  )
}
