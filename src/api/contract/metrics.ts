/** The stable contract of the metrics: additive within /v1. */
import { z } from 'zod'
import { LONGEST_PROJECT_NAME } from '../../control-plane/projects/projects.ts'
import { assumption } from '../../control-plane/records.ts'
import { READINGS, REASONS } from '../../metrics/metric.ts'
import { LONGEST_WORD, MOST_CATEGORIES, POLICIES } from '../../metrics/policy/policy.ts'
import { bounded, endOfRange, example, moment } from '../../plugin-kit/spec/request-values.ts'
import { paging } from './common.ts'
import { rolloutCounting, rolloutRecord } from './rollouts.ts'

const reasons = Object.keys(REASONS) as [keyof typeof REASONS, ...(keyof typeof REASONS)[]]
const word = bounded(255).min(1)
const projectName = bounded(LONGEST_PROJECT_NAME).min(1)

/** Accepts one value of a query parameter, or several. */
const listOf = <Entry extends z.ZodType>(entry: Entry, most: number) =>
  z.preprocess(
    (input) => (input === undefined || Array.isArray(input) ? input : [input]),
    z.array(entry).min(1).max(most),
  )

export const metricName = z.object({ metric: z.string() })
const filterQuery = {
  project: projectName.meta({ description: 'Name of the project.' }),
  from: moment.optional().meta({ description: 'Start of the time range. Default: six months before `to`.' }),
  to: endOfRange
    .optional()
    .meta({ description: 'End of the time range; a day without a time belongs to it as a whole. Default: now.' }),
  environment: word.default('PRODUCTION'),
  repository: word.optional().meta({ description: 'Name or id of a repository of the project.' }),
  team: word.optional().meta({ description: 'Name or id of a team.' }),
  policy: z
    .enum(['project', ...POLICIES.map(({ name }) => name)] as [string, ...string[]])
    .default('project')
    .meta({ description: 'Counting rules. `project`: those of the project.' }),
  reading: z.enum(READINGS).default('known').meta({
    description: 'For pull request times: how pull requests without a time count; see docs/metrics-and-panels.md.',
  }),
  issueCategory: listOf(bounded(LONGEST_WORD).min(1), MOST_CATEGORIES)
    .optional()
    .meta({ description: 'For the service report: values of `x_issue_category`. Default: those of the project.' }),
  component: bounded(LONGEST_WORD)
    .min(1)
    .optional()
    .meta({ description: 'For the service report: the service. Default: that of the project.' }),
}
const format = z.enum(['json', 'csv']).default('json')
export const valueQuery = z.object({
  ...filterQuery,
  groupBy: z.enum(['environment', 'repository', 'team']).optional(),
  format,
})
export const seriesQuery = z.object({
  ...filterQuery,
  bucket: z.enum(['day', 'week', 'month']).default('month'),
  format,
})
export const itemsQuery = z.object({
  ...filterQuery,
  reason: z
    .enum(['counted', 'against', ...reasons])
    .optional()
    .meta({
      description:
        '`counted`: those that count. `against`: of these, those that make a share worse, such as deployments that led to an incident. Or a reason.',
    }),
  ...paging,
  format,
})
export const plainQuery = z.object(filterQuery)

const grade = z.object({
  report: z.enum(['2021', '2023']),
  band: z.enum(['elite', 'high', 'medium', 'low']),
  label: z.string(),
  by: z.string().optional().meta({
    description:
      'Of the deployment frequency: what the band goes by, which is neither the sum nor the mean of deployments.',
  }),
})
const noData = z
  .object({ because: z.string(), remedy: z.string() })
  .meta({ id: 'NoData', description: 'Why there is no value (after “no data, because”), and what to do about it.' })
const noGrade = z.object({ because: z.string(), remedy: z.string() }).meta({
  id: 'NoGrade',
  description: 'Why a value has no grade (after “no grade:”), and what to do about it.',
})
const valueFields = {
  value: z.number().nullable().meta({ description: 'Null when nothing counts.' }),
  inWords: z.string().meta({
    description:
      'The value as people say it. Where the median week has no deployment, how many there were: `34 deployments in 26 weeks`.',
  }),
  counted: z.int(),
  total: z.int(),
  grades: z.array(grade).meta({ description: 'Empty where there is nothing to grade, or too little to grade by.' }),
  noGrade: noGrade.optional().meta({ description: 'Where a value of a graded metric has no grade.' }),
  noData: noData.optional().meta({ description: 'Where the value is null.' }),
}
const frequency = z.object({
  weekly: z.number().nullable(),
  monthly: z.number().nullable(),
  sixMonths: z.number().nullable(),
  weeks: z.int().meta({ description: 'That the range touches.' }),
})
const leftOut = z.array(z.object({ reason: z.enum(reasons), meaning: z.string(), count: z.int() }))
/** Fields about the metric that every answer has. */
const about = {
  metric: z.string(),
  title: z.string(),
  unit: z.string(),
  better: z.enum(['higher', 'lower']),
  summary: z.string().meta({ description: 'How items become a number: `median`, `mean`, `count`, `days` or `ratio`.' }),
  definition: z.string().meta({ description: 'What is counted, when, and what is not.' }),
  rollouts: rolloutCounting,
}
const answered = { ...about, project: z.string(), from: z.date(), to: z.date() }

export const metricRecord = z
  .object({
    name: z.string(),
    title: z.string(),
    definition: z.string(),
    unit: z.string(),
    better: z.enum(['higher', 'lower']),
    summary: z.string(),
  })
  .meta({ id: 'Metric' })
const group = z.string().nullable().meta({ description: 'Id of the repository or team, or the environment.' })
const name = z.string().nullable().meta({ description: 'What people call the group.' })
export const valueRecord = z.object({
  ...answered,
  values: z.array(z.object({ group, name, ...valueFields, frequency: frequency.optional() })),
})
export const seriesRecord = z.object({
  ...answered,
  points: z.array(z.object({ start: z.date(), value: z.number().nullable(), counted: z.int() })),
})
const linkedRow = z.object({ table: z.string(), id: z.string(), title: z.string(), url: z.string() })
const itemRecord = z
  .object({
    kind: z.string(),
    table: z.string().meta({ description: 'Table of the domain model that has a row of this id.' }),
    id: z.string(),
    at: z.date().nullable(),
    value: z.number().nullable(),
    reason: z.enum(reasons).nullable(),
    title: z.string().nullable(),
    url: z.string().nullable(),
    repository: z.string().nullable(),
    repositoryName: z.string().nullable(),
    account: z.string().nullable(),
    accountName: z.string().nullable(),
    rawTable: z.string().nullable(),
    rawParams: z.string().nullable(),
    rawId: z.number().nullable(),
    commit: z
      .object({ sha: z.string(), title: z.string().meta({ description: 'First line of its message.' }) })
      .nullable()
      .meta({ description: 'Of a deployment.' }),
    incidents: z.array(linkedRow).readonly().meta({
      description: 'Of a deployment: the incidents that are attributed to it, where the metric attributes them.',
    }),
    deployment: linkedRow.nullable().meta({ description: 'Of an incident: the deployment that it is attributed to.' }),
    isResolved: z.boolean().nullable().meta({ description: 'Of an incident.' }),
    rollout: rolloutRecord.nullable().meta({ description: 'Of a deployment that other rows tell of, too.' }),
  })
  .meta({
    id: 'MetricItem',
    description: 'A row that counts, or that does not for a reason, and the raw row behind it.',
  })
export const itemsRecord = z.object({
  ...answered,
  count: z.int().meta({ description: 'Of all pages.' }),
  items: z.array(itemRecord),
})
const explanation = { ...valueFields, frequency: frequency.optional(), leftOut }
const cure = z
  .object({
    kind: z.enum(['rules', 'policy', 'collection', 'run', 'range', 'items']),
    rules: z.array(z.string()).optional().meta({ description: 'Fields of scope configs; each of them can change it.' }),
    name: z.string().optional().meta({ description: 'What they should match.' }),
    policy: z.string().optional().meta({ description: 'The policy that would count it.' }),
    reason: z.enum(reasons).optional().meta({ description: 'The rows left out for this.' }),
  })
  .meta({ id: 'Cure', description: 'Where you can change what does not count.' })
const rulePlace = z
  .object({
    plugin: z.string(),
    title: z.string(),
    connectionId: z.int(),
    connection: z.string(),
    scopeConfigId: z.int().nullable(),
    scopeConfig: z.string().nullable(),
    scopes: z.int(),
    rules: z.array(z.string()),
  })
  .meta({ id: 'RulePlace', description: 'A scope config of what the project collects; null: none, and assumed rules.' })
export const explanationRecord = z.object({
  ...answered,
  ...explanation,
  leftOut: z.array(
    z.object({
      reason: z.enum(reasons),
      meaning: z.string(),
      count: z.int(),
      remedy: z.string(),
      cure: cure.nullable().meta({ description: 'Null: there is nothing to do here.' }),
    }),
  ),
  against: z
    .int()
    .nullable()
    .meta({ description: 'Of a share: how many of those that count make it worse. Null: it is none.' }),
  findings: z
    .array(z.object({ seen: z.string(), remedy: z.string(), cure }))
    .meta({ description: 'What is there and does not count, and what to change if it should.' }),
  assumptions: z.array(assumption),
  places: z.array(rulePlace).meta({ description: 'Where the rules are that findings and reasons ask for.' }),
  samples: z.array(itemRecord),
  rolloutsJoined: z.array(rolloutRecord).readonly().meta({
    description: 'Of what is left out because another row stands for its rollout: the latest rollouts, with all rows.',
  }),
})
const rolloutRule = z.object({
  join: z.array(z.string()).readonly().optional(),
  apart: z.array(z.string()).readonly().optional(),
})
const settings = z.record(
  z.string(),
  z.union([
    z.number(),
    z.boolean(),
    z.null(),
    z.string(),
    z.array(z.string()).readonly(),
    z.array(rolloutRule).readonly(),
  ]),
)
export const policiesRecord = z.object({
  ...answered,
  policies: z.array(
    z.object({
      policy: z.string(),
      meaning: z.string(),
      settings: settings.meta({ description: 'As a project stores it, in `policy` of its metric dora.' }),
      ...valueFields,
      differing: z.int(),
    }),
  ),
  standard: settings.meta({ description: 'What a project has that chooses nothing; `differing` counts from it.' }),
  chosen: z
    .object({ settings, ...valueFields })
    .meta({ description: 'The policy that the project has, and the value by it.' }),
})

const MOST_PROJECTS = 50
export const keysQuery = z.object({
  project: listOf(projectName, MOST_PROJECTS).meta({
    description: `Names of projects, at most ${MOST_PROJECTS}; those that are not there are left out.`,
  }),
  from: filterQuery.from,
  to: filterQuery.to,
  bucket: seriesQuery.shape.bucket,
})
export const keysRecord = z.object({
  from: z.date(),
  to: z.date(),
  projects: z.array(
    z.object({
      project: z.string(),
      keys: z.array(
        z.object({
          ...about,
          ...valueFields,
          restsOn: z
            .string()
            .meta({ description: 'How many items count, and of how many that could: `50 of 168 pull requests`.' }),
          points: seriesRecord.shape.points,
        }),
      ),
    }),
  ),
})

export const reportQuery = z.strictObject({
  project: filterQuery.project,
  from: filterQuery.from,
  to: filterQuery.to,
  environment: filterQuery.environment,
  issueCategory: filterQuery.issueCategory,
  component: filterQuery.component,
  format,
})
const reportMonth = z.object({
  month: z.string().meta({ description: '`yy/mm`' }),
  incidents: z.number().nullable(),
  deployments: z.int(),
  changeFailureRate: z.number().nullable(),
  recoveryMinutes: z.number().nullable(),
  unresolved: z.int().meta({
    description:
      'Incidents behind `recoveryMinutes` that are not resolved: they count with the time until their last update.',
  }),
})
export const reportRecord = z.object({
  project: z.string(),
  from: z.date(),
  to: z.date(),
  environment: z.string(),
  issueCategories: z.array(z.string()).nullable().meta({ description: 'Null: any.' }),
  component: z.string().nullable().meta({ description: 'Null: any.' }),
  pairing: z
    .string()
    .meta({ description: 'Whether the four keys of the project use the same rules: `service-report` or `default`.' }),
  categoryTable: z
    .enum(['incidents', 'issues'])
    .nullable()
    .meta({ description: 'The table whose field `x_issue_category` is read. Null: none has it.' }),
  division: z
    .object({ incidents: z.int(), deployments: z.int(), how: z.string() })
    .meta({ description: 'What the change failure rate divides, and how.' }),
  unresolved: z.object({ count: z.int(), how: z.string() }).meta({
    description: 'Incidents behind the recovery time that are not resolved, and how they count; empty: none.',
  }),
  notes: z.array(z.string()).meta({
    description:
      'A sentence if the field of the category is missing, and for each chosen category and component that no incident of the project has.',
  }),
  metrics: z.array(z.object({ ...about, ...valueFields })),
  months: z.array(reportMonth),
})

const pattern = bounded(10_000).optional()
const typeMapping = z.looseObject({ standardType: bounded(255).nullish() })
const rules = z.strictObject({
  deploymentPattern: pattern,
  productionPattern: pattern,
  productionBranchPattern: pattern,
  envNamePattern: pattern,
  issueTypeRequirement: pattern,
  issueTypeBug: pattern,
  issueTypeIncident: pattern,
  issueTextIncident: pattern,
  typeMappings: z
    .record(bounded(255), typeMapping)
    .refine((types) => Object.keys(types).length <= 1000, 'must be at most 1000 types')
    .nullish(),
})
/** Fields of scope configs whose effect can be previewed before they are saved. */
export const PREVIEWED: ReadonlySet<string> = new Set(Object.keys(rules.shape))
export const previewBody = z
  .strictObject({
    project: projectName,
    from: moment.optional(),
    to: endOfRange.optional(),
    connection: z
      .strictObject({ plugin: word, id: z.int().min(1) })
      .optional()
      .meta({ description: 'The scope config whose rules are tried. Default: all of the project.' }),
    rules,
  })
  .meta(example({ project: 'shop', rules: { productionPattern: 'prod' } }))
const sample = z.object({ table: z.string(), id: z.string(), name: z.string() })
export const previewRecord = z.object({
  effects: z.array(
    z.object({
      rule: z.string(),
      matching: z.int(),
      starting: z.int(),
      stopping: z.int(),
      samples: z.object({ starting: z.array(sample), stopping: z.array(sample) }),
    }),
  ),
  keys: z.array(z.object({ metric: z.string(), before: z.object(explanation), after: z.object(explanation) })),
  save: z
    .array(
      z.object({
        plugin: z.string(),
        connectionId: z.int(),
        scopeConfigId: z.int().nullable().meta({ description: 'Null: these scopes have none yet.' }),
        rules: z.record(z.string(), z.any()),
      }),
    )
    .meta({ description: 'All rules that the scope configs have to hold so that this comes true.' }),
})
