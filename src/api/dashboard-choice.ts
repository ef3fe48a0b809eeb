/** Turns what a request asks of a dashboard into what is read, and definitions into answers. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { PlacedPanel, ViewedDashboard } from '../control-plane/dashboards/own-dashboards.ts'
import { policyOfProject } from '../control-plane/projects/project-policy.ts'
import type { Dashboard, Panel } from '../dashboards/dashboard.ts'
import { type Range, rangeBefore, rangeOfText } from '../dashboards/range.ts'
import { type Choice, readPanel } from '../dashboards/read.ts'
import type { Database } from '../database/database.ts'
import { UserError } from '../errors.ts'
import { DEFAULT_POLICY } from '../metrics/policy/policy.ts'
import { toCsv } from '../plugin-kit/push/csv-text.ts'
import { visibleProjects } from './access/gate.ts'
import { sentAlready } from './api.ts'
import type { choiceQuery } from './contract/dashboards.ts'
import { requireProject } from './metric-filter.ts'

type Values = Readonly<Record<string, string | readonly string[]>>

/** Users who may see only some projects get only dashboards about those projects. */
export async function choiceOf(
  database: Database,
  request: FastifyRequest,
  dashboard: Dashboard,
  { values = {}, ...asked }: z.output<typeof choiceQuery>,
): Promise<Choice> {
  const visible = visibleProjects(request)
  const projects = [values.project ?? []].flat()
  const isOfProject = dashboard.variables.some(({ name }) => name === 'project')
  if (visible && (!isOfProject || projects.some((project) => !visible.includes(project)))) {
    const message = 'You may see your own projects only. Ask an administrator for the role of a viewer everywhere.'
    throw new UserError(message, { status: 403 })
  }
  return choiceWith(database, dashboard, rangeOfText(asked), values)
}

/** Does the same for users who may see all projects. */
export async function choiceWith(
  database: Database,
  dashboard: Dashboard,
  range: Range,
  values: Values,
): Promise<Choice> {
  const chosen = new Map(Object.entries(values).map(([name, value]) => [name, [value].flat()]))
  for (const { name, isList } of dashboard.variables) {
    if (!isList && (chosen.get(name)?.length ?? 1) !== 1) throw new UserError(`${name} has one value: choose one.`)
  }
  const isOfProject = dashboard.variables.some(({ name }) => name === 'project')
  const [project] = (isOfProject && chosen.get('project')) || []
  if (project !== undefined) await requireProject(database, project)
  const policy = project === undefined ? DEFAULT_POLICY : await policyOfProject(database, project)
  return { ...range, values: chosen, policy }
}

export const summaryOf = ({ name, title, question, group }: Dashboard) => ({ name, title, question, group })

const columnsOf = ({ columns }: Panel) =>
  Object.entries(columns).map(([name, { title, kind, link = null }]) => ({ name, title, kind, link }))

export const recordOf = async (database: Database, { dashboard, own, placed }: ViewedDashboard, range: Range) => ({
  ...summaryOf(dashboard),
  missingField: await missingFieldOf(database, dashboard),
  own,
  range: { ...range, before: rangeBefore(range) },
  variables: dashboard.variables.map(({ name, title, isList = false, options, remedy = null }) => ({
    name,
    title,
    isList,
    remedy,
    options: options ? [...options] : null,
  })),
  sections: dashboard.sections.map(({ title = null, panels }) => ({
    title,
    panels: panels.map((panel) => ({
      name: panel.name,
      title: panel.title,
      definition: panel.definition,
      look: panel.look,
      columns: columnsOf(panel),
      width: panel.width ?? 12,
      height: panel.height ?? 9,
      metric: panel.metric ?? null,
      better: panel.better ?? null,
      limits: [...(panel.limits ?? [])],
      remedy: panel.remedy,
      origin: originOf(placed(panel.name), own !== null),
    })),
  })),
})

/** Finds the column that users must add for this dashboard, if no table has it yet: its name, and the table to add it to. */
async function missingFieldOf(database: Database, { ownField }: Dashboard) {
  if (!ownField) return null
  const live = await database.describe()
  const { name, title, tables } = ownField
  const [table = ''] = tables
  return tables.some((each) => live.get(each)?.columns.has(name)) ? null : { name, title, table }
}

const originOf = ({ dashboard, panel }: PlacedPanel, isOwn: boolean) => ({
  dashboard: dashboard.name,
  panel: isOwn ? panel.name.slice(dashboard.name.length + 1) : panel.name,
})

export async function answerPanel(
  database: Database,
  { dashboard, panel }: PlacedPanel,
  choice: Choice,
  format: 'json' | 'csv',
  reply: FastifyReply,
) {
  const { rows, isCut } = await readPanel(database, dashboard, panel, choice)
  if (format === 'json') {
    return { from: choice.from, to: choice.to, columns: columnsOf(panel), rows: rows.map((row) => [...row]), isCut }
  }
  const names = Object.keys(panel.columns)
  const records = rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])))
  return sentAlready(reply.type('text/csv; charset=utf-8').send(toCsv(names, records)))
}
