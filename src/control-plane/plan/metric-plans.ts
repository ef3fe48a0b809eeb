/** Metrics that a project may switch on. Each is a plugin that adds stages to the plan of the project. */

import { unknownName } from '../../basics/nearest.ts'
import { UserError } from '../../errors.ts'
import { policyOf } from '../../metrics/policy/policy.ts'
import type { MetricOption, PlanParts } from '../../plugin-kit/spec/plan.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'

type Metric = NonNullable<PlanParts['metric']>

export const metricsOf = (plugins: readonly Plugin[]): ReadonlyMap<string, Metric> =>
  new Map(plugins.flatMap(({ name, plans }) => (plans?.metric ? [[name, plans.metric] as const] : [])))

const isObject = (value: unknown): value is MetricOption =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The option as stored with a project. Some clients send an empty text for "none". */
export const metricOption = (stored: unknown): MetricOption => (isObject(stored) ? stored : {})

/** Throws when a metric is unknown or its option is invalid. */
export function checkMetric(plugins: readonly Plugin[], name: string, input: unknown): void {
  const metrics = metricsOf(plugins)
  const metric = metrics.get(name)
  if (!metric) throw unknownName('metric', name, metrics.keys(), 400)
  if (input !== '' && !isObject(input)) throw new UserError('pluginOption must be an object, or an empty text.')
  const option = metricOption(input)
  if (option.policy !== undefined && option.policy !== null) {
    if (!isObject(option.policy)) throw new UserError('pluginOption: policy must be an object.')
    policyOf(option.policy)
  }
  metric.check?.(option)
}
