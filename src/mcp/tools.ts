/** The questions that assistants may ask. Each tool calls a route as the user who runs the assistant, so nothing is computed a second time. */
import { z } from 'zod'
import type { Sentence } from '../metrics/answer/answer.ts'
import { textOf } from '../metrics/answer/say.ts'
import { metricNamed } from '../metrics/index.ts'
import type { Answer, Ask, Question, Reply } from './ask.ts'

/** An answer, or a sentence that says what to change. */
export type Result = { readonly answer: unknown; readonly hint?: string } | { readonly failure: string }

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodObject
  readonly run: (ask: Ask, input: Answer) => Promise<Result>
}

const LARGEST_PAGE = 100
const text = (most: number) => z.string().min(1).max(most)
const project = text(255).describe('Name of a project, as list_projects gives it.')
const range = {
  from: text(40)
    .optional()
    .describe('Start of the time range, such as 2026-01-01T00:00:00Z. Default: six months before `to`.'),
  to: text(40)
    .optional()
    .describe('End of the time range; a day without a time belongs to it as a whole. Default: now.'),
}
const filter = {
  metric: text(100).describe('Name of a metric, as list_metrics gives it.'),
  project: project.optional().describe('Name of a project. Give a project, a group or a team, or set all.'),
  group: text(255).optional().describe('Name of a group of projects, each item of which counts once.'),
  all: z.boolean().optional().describe('True for all projects.'),
  ...range,
  environment: text(255).optional().describe('PRODUCTION if left out.'),
  repository: text(255).optional(),
  team: text(255).optional().describe('Narrows the rest; alone, it means all projects. At least five people.'),
  policy: text(100).optional().describe('Counting rules. Default: those of the project.'),
}
const page = {
  page: z.int().min(1).max(1_000_000).default(1),
  pageSize: z.int().min(1).max(LARGEST_PAGE).default(50),
}

/** The answer of a route, or its message about what is wrong. */
async function answerOf(ask: Ask, question: Question): Promise<Reply & { readonly failure?: string }> {
  const reply = await ask(question)
  if (reply.status < 400) return reply
  const { message = `The server answered ${reply.status}.` } = reply.body ?? {}
  return { ...reply, failure: String(message) }
}

async function asked(ask: Ask, question: Question, shape: (body: Answer) => Result): Promise<Result> {
  const { body, failure } = await answerOf(ask, question)
  return failure === undefined ? shape(body) : { failure }
}

/** The meaning of a number, given beside it. */
function meaning(name: string) {
  const { title, unit, better, definition } = metricNamed(name)
  return { metric: name, title, unit, better, definition }
}
const metricQuestion = (input: { metric: string } & Record<string, unknown>, part = ''): Question => {
  const { metric, ...query } = input
  return { method: 'GET', path: `/v1/metrics/${encodeURIComponent(metric)}${part}`, query }
}

const listProjects: Tool = {
  name: 'list_projects',
  title: 'List projects',
  description: 'Names and descriptions of the projects that may be seen, by name. Start here.',
  input: z.strictObject({ keyword: text(255).optional().describe('Part of the name.'), ...page }),
  run: (ask, input) =>
    asked(ask, { method: 'GET', path: '/projects', query: { ...input, sort: 'name' } }, ({ count, projects }) => ({
      answer: {
        count,
        projects: projects.map(({ name, description, lastPipeline }: Answer) => ({
          name,
          description,
          lastRun: lastPipeline ? { status: lastPipeline.status, finishedAt: lastPipeline.finishedAt } : null,
        })),
      },
      ...moreOf(count, input),
    })),
}

const moreOf = (count: number, { page: at, pageSize }: { page: number; pageSize: number }) =>
  count > at * pageSize ? { hint: `There are ${count}: ask for page ${at + 1} to continue.` } : {}

const listMetrics: Tool = {
  name: 'list_metrics',
  title: 'List metrics',
  description: 'Every metric: name, title, unit, whether higher or lower is better, and its definition.',
  input: z.strictObject({}),
  run: (ask) => asked(ask, { method: 'GET', path: '/v1/metrics' }, (answer) => ({ answer })),
}

const readAnswer: Tool = {
  name: 'read_answer',
  title: 'Read the answer',
  description:
    'How a project, team, group or all projects do: what changed in a sentence or two, the five keys with the period before and their targets, where the time goes, what to look at, what needs attention, and how sure that is. A change that may be chance is said to be. Name one of project, team, group and all; a team also within a project.',
  input: z.strictObject({
    project: project.optional(),
    team: text(255).optional().describe('Name of a team.'),
    group: text(255).optional().describe('Name of a group of projects.'),
    all: z.literal(true).optional().describe('All projects that may be seen.'),
    ...range,
    environment: filter.environment,
  }),
  run: (ask, query) =>
    asked(
      ask,
      { method: 'GET', path: '/v1/answer', query },
      ({ sentence, findings, keys, when: _, look, ...rest }) => ({
        answer: {
          sentences: sentence.map(textOf),
          findings: Object.fromEntries(
            Object.entries(findings).map(([part, said]) => [part, textOf(said as Sentence)]),
          ),
          keys: keys.map(({ trendBefore: __, ...key }: Answer) => key),
          look: look.map(({ heaviest, ...each }: Answer) => ({ ...each, heaviest: heaviest.map(plainHeavy) })),
          ...rest,
        },
      }),
    ),
}

/** Stages of single items would fill the answer. */
const plainHeavy = ({ stages: _, id: __, ...item }: Answer) => item

const readMetric: Tool = {
  name: 'read_metric',
  title: 'Read a metric',
  description:
    'The value of a metric of a project, a group, a team or all projects in a time range, or one value for each environment, repository or team.',
  input: z.strictObject({ ...filter, groupBy: z.enum(['environment', 'repository', 'team']).optional() }),
  run: (ask, input) => asked(ask, metricQuestion(input), (body) => ({ answer: { ...body, ...meaning(input.metric) } })),
}

const readSeries: Tool = {
  name: 'read_series',
  title: 'Read a metric over time',
  description: 'A metric over time: one point per day, week or month of the range.',
  input: z.strictObject({ ...filter, bucket: z.enum(['day', 'week', 'month']).default('month') }),
  run: (ask, input) =>
    asked(ask, metricQuestion(input, '/series'), (body) => ({ answer: { ...body, ...meaning(input.metric) } })),
}

const readItems: Tool = {
  name: 'read_items',
  title: 'Read the rows behind a metric',
  description:
    'The deployments, pull requests, incidents, issues or builds behind a number, by date: those that count (reason null) and those left out, with the reason.',
  input: z.strictObject({
    ...filter,
    reason: text(100)
      .optional()
      .describe(
        '`counted`, `against` (of a share: those that make it worse), or one of the reasons that explain_metric names; all if left out.',
      ),
    ...page,
  }),
  run: (ask, input) =>
    asked(ask, metricQuestion(input, '/items'), ({ items, ...body }) => ({
      answer: { ...body, ...meaning(input.metric), items: items.map(plainItem) },
      ...(items.length === input.pageSize
        ? { hint: `The page is full: ask for page ${input.page + 1} to see whether there are more.` }
        : {}),
    })),
}

/** The place of the raw record is of no use to an assistant. */
const plainItem = ({ rawTable: _, rawParams: __, rawId: ___, ...item }: Answer) => item

const explainMetric: Tool = {
  name: 'explain_metric',
  title: 'Explain a metric',
  description:
    'Why a number is what it is: how many rows count, how many do not for which reason, what is missing, and what to do about it.',
  input: z.strictObject(filter),
  run: (ask, input) =>
    asked(ask, metricQuestion(input, '/explanation'), ({ samples, places: _, ...body }) => ({
      answer: {
        ...body,
        ...meaning(input.metric),
        samples: samples.slice(0, 10).map(plainItem),
      },
    })),
}

const pattern = z.string().max(10_000).optional()
const previewRules: Tool = {
  name: 'preview_rules',
  title: 'Preview rules',
  description:
    'What other rules of a scope config would match, and what they would do to the four keys. Nothing is saved. Patterns are regular expressions (RE2); an empty one takes the rule away; one that is left out stays. `save` has the rules to save so that it comes true.',
  input: z.strictObject({
    project,
    ...range,
    connection: z.strictObject({ plugin: text(255), id: z.int().min(1) }).optional(),
    rules: z.strictObject({
      deploymentPattern: pattern,
      productionPattern: pattern,
      productionBranchPattern: pattern.describe('Branches of runs that are production deployments.'),
      envNamePattern: pattern,
      issueTypeRequirement: pattern,
      issueTypeBug: pattern,
      issueTypeIncident: pattern,
      issueTextIncident: pattern.describe('Title and description of issues that are incidents.'),
      typeMappings: z.record(text(255), z.strictObject({ standardType: text(255) })).optional(),
    }),
  }),
  run: (ask, body) =>
    asked(ask, { method: 'POST', path: '/v1/metrics/rule-preview', body }, ({ effects, keys, save }) => ({
      answer: {
        effects,
        save,
        keys: keys.map(({ metric, before, after }: Answer) => ({ ...meaning(metric), before, after })),
      },
    })),
}

export const tools: readonly Tool[] = [
  listProjects,
  listMetrics,
  readAnswer,
  readMetric,
  readSeries,
  readItems,
  explainMetric,
  previewRules,
]
