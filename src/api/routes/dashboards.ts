import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Dashboard, Panel } from '../../dashboards/dashboard.ts'
import { dashboardNamed, dashboards, panelNamed, variableNamed } from '../../dashboards/index.ts'
import { type Choice, readOptions, readPanel } from '../../dashboards/read.ts'
import type { Database } from '../../database/database.ts'
import { UserError } from '../../errors.ts'
import { REFERENCE } from '../../metrics/policy.ts'
import { visibleProjects } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, tables } from '../contract/common.ts'
import {
  choiceQuery,
  dashboardName,
  dashboardRecord,
  dashboardSummary,
  optionsRecord,
  panelName,
  panelQuery,
  rowsRecord,
  variableName,
} from '../contract/dashboards.ts'
import { toCsv } from '../csv.ts'
import { policyOfProject, rangeOf, requireProject } from './metrics.ts'

const tags = ['dashboards']

export const dashboardRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/dashboards',
    { schema: { tags, summary: 'The dashboards', response: answers(200, dashboardSummary.array()) } },
    async () => dashboards.map(summaryOf),
  )

  api.get(
    '/v1/dashboards/:dashboard',
    {
      schema: {
        tags,
        summary: 'What a dashboard is made of: variables to choose, and panels',
        params: dashboardName,
        response: answers(200, dashboardRecord, 404),
      },
    },
    async ({ params }) => recordOf(dashboardNamed(params.dashboard)),
  )

  api.get(
    '/v1/dashboards/:dashboard/variables/:variable',
    {
      schema: {
        tags,
        summary: 'The values that a variable can have',
        params: variableName,
        querystring: choiceQuery,
        response: answers(200, optionsRecord, 403, 404),
      },
    },
    async (request) => {
      const dashboard = dashboardNamed(request.params.dashboard)
      const variable = variableNamed(dashboard, request.params.variable)
      const visible = visibleProjects(request)
      const choice = await choiceOf(database, request, dashboard, request.query)
      const options = await readOptions(database, dashboard, variable, choice)
      return {
        options:
          variable.name === 'project' ? options.filter(({ value }) => visible?.includes(value) ?? true) : options,
      }
    },
  )

  api.get(
    '/v1/dashboards/:dashboard/panels/:panel',
    {
      schema: {
        tags,
        summary: 'The rows of a panel, as they are drawn',
        params: panelName,
        querystring: panelQuery,
        response: tables(rowsRecord, 'Its rows.', 403, 404),
      },
    },
    async (request, reply) => {
      const dashboard = dashboardNamed(request.params.dashboard)
      const panel = panelNamed(dashboard, request.params.panel)
      const choice = await choiceOf(database, request, dashboard, request.query)
      const { rows, isCut } = await readPanel(database, dashboard, panel, choice)
      if (request.query.format === 'csv') {
        const names = Object.keys(panel.columns)
        const records = rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])))
        return reply.type('text/csv; charset=utf-8').send(toCsv(names, records)) as any
      }
      return { from: choice.from, to: choice.to, columns: columnsOf(panel), rows: rows.map((row) => [...row]), isCut }
    },
  )
}

const summaryOf = ({ name, title, question, group }: Dashboard) => ({ name, title, question, group })

const columnsOf = ({ columns }: Panel) =>
  Object.entries(columns).map(([name, { title, kind, link = null }]) => ({ name, title, kind, link }))

const recordOf = (dashboard: Dashboard) => ({
  ...summaryOf(dashboard),
  variables: dashboard.variables.map(({ name, title, isList = false, options, remedy = null }) => ({
    ...{ name, title, isList, remedy },
    options: options ? [...options] : null,
  })),
  sections: dashboard.sections.map(({ title = null, panels }) => ({
    title,
    panels: panels.map((panel) => ({
      ...{ name: panel.name, title: panel.title, definition: panel.definition, look: panel.look },
      columns: columnsOf(panel),
      ...{ width: panel.width ?? 12, height: panel.height ?? 9, metric: panel.metric ?? null },
      ...{ better: panel.better ?? null, limits: [...(panel.limits ?? [])], remedy: panel.remedy },
    })),
  })),
})

/** Whoever may see some projects only sees dashboards of those. */
async function choiceOf(
  database: Database,
  request: FastifyRequest,
  dashboard: Dashboard,
  { values = {}, ...asked }: z.output<typeof choiceQuery>,
): Promise<Choice> {
  const chosen = new Map(Object.entries(values).map(([name, value]) => [name, [value].flat()]))
  const visible = visibleProjects(request)
  const [project] = chosen.get('project') ?? []
  const isOfProject = dashboard.variables.some(({ name }) => name === 'project')
  if (visible && (!isOfProject || (project !== undefined && !visible.includes(project)))) {
    throw new UserError(
      'You may see your own projects only. Ask an administrator for the role of a viewer everywhere.',
      {
        status: 403,
      },
    )
  }
  if (isOfProject && project !== undefined) await requireProject(database, project)
  const policy = project === undefined ? REFERENCE : await policyOfProject(database, project)
  return { ...rangeOf(asked), values: chosen, policy }
}
