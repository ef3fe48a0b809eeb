import { packed, tarText } from '../../basics/tar.ts'
import { findDashboard, listOwnDashboards, OWN_GROUP } from '../../control-plane/dashboards/own-dashboards.ts'
import { policyOfProject } from '../../control-plane/projects/project-policy.ts'
import { readAnnotations } from '../../dashboards/annotations.ts'
import { templateOf } from '../../dashboards/grafana/template.ts'
import { templateFiles } from '../../dashboards/grafana/template-files.ts'
import { dashboards, variableNamed } from '../../dashboards/index.ts'
import { rangeOfText } from '../../dashboards/range.ts'
import { readOptions } from '../../dashboards/read.ts'
import { visibleProjects } from '../access/gate.ts'
import { inTurn, type Routes } from '../api.ts'
import { answers, streams, tables } from '../contract/common.ts'
import {
  annotationsQuery,
  annotationsRecord,
  choiceQuery,
  dashboardName,
  dashboardRecord,
  dashboardSummary,
  optionsRecord,
  panelName,
  panelQuery,
  rangeQuery,
  rowsRecord,
  templateQuery,
  templateRecord,
  variableName,
} from '../contract/dashboards.ts'
import { answerPanel, choiceOf, recordOf, summaryOf } from '../dashboard-choice.ts'
import { requireProject } from '../metric-filter.ts'
import { inTurns } from '../stream.ts'

const tags = ['dashboards']

const definitionRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/dashboards',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'The dashboards', response: answers(200, dashboardSummary.array()) },
    },
    async () => [
      ...dashboards.map(summaryOf),
      ...(await listOwnDashboards(database)).map(({ name, title, question }) => ({
        name,
        title,
        question,
        group: OWN_GROUP,
      })),
    ],
  )
  api.get(
    '/v1/dashboards/:dashboard',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What a dashboard is made of: variables to choose, and panels',
        params: dashboardName,
        querystring: rangeQuery,
        response: answers(200, dashboardRecord, 404),
      },
    },
    async ({ params, query }) =>
      recordOf(database, await findDashboard(database, params.dashboard), rangeOfText(query)),
  )
  api.get(
    '/v1/dashboards/:dashboard/variables/:variable',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The values that a variable can have',
        params: variableName,
        querystring: choiceQuery,
        response: answers(200, optionsRecord, 403, 404),
      },
    },
    async (request) => {
      const { dashboard } = await findDashboard(database, request.params.dashboard)
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
}

const panelRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/dashboards/:dashboard/panels/:panel',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The rows of a panel, as they are drawn',
        params: panelName,
        querystring: panelQuery,
        response: tables(rowsRecord, 'Its rows.', 403, 404),
      },
    },
    async (request, reply) => {
      const viewed = await findDashboard(database, request.params.dashboard)
      const placed = viewed.placed(request.params.panel)
      // The dashboard that the panel comes from decides what the user may see.
      const choice = await choiceOf(database, request, placed.dashboard, request.query)
      return answerPanel(database, placed, choice, request.query.format, reply)
    },
  )
  api.get(
    '/v1/annotations',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Deployments, incidents and traffic switches of a project, as marks on pictures of time',
        querystring: annotationsQuery,
        response: answers(200, annotationsRecord, 404),
      },
    },
    async ({ query: { project, kinds, ...asked } }) => {
      await requireProject(database, project)
      const range = rangeOfText(asked)
      const policy = await policyOfProject(database, project)
      const { annotations, isCut } = await readAnnotations(database, { project, policy }, range, kinds)
      return { ...range, annotations: [...annotations], isCut }
    },
  )
}

const templateRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/dashboards/:dashboard/template',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'A dashboard as a template for Grafana, for the database in use; also one of your own',
        params: dashboardName,
        querystring: templateQuery,
        response: answers(200, templateRecord, 404),
      },
    },
    async ({ params, query }, reply) => {
      const { dashboard } = await findDashboard(database, params.dashboard)
      reply.header('content-disposition', `attachment; filename="${dashboard.name}.json"`)
      return templateOf(dashboard, { engine: database.dialect.name, datasource: query.datasource })
    },
  )
  api.get(
    '/v1/dashboard-templates.tar.gz',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'streamed' },
      schema: {
        tags,
        summary: 'All dashboards as templates for Grafana, for the database in use',
        querystring: templateQuery,
        response: streams('application/gzip', 'An archive of JSON files.'),
      },
    },
    async ({ query }, reply) => {
      const entries = function* () {
        const target = { engine: database.dialect.name, datasource: query.datasource }
        for (const [name, text] of templateFiles(target)) yield* tarText(name, Buffer.from(text))
      }
      return reply
        .type('application/gzip')
        .header('content-disposition', 'attachment; filename="weir-grafana.tar.gz"')
        .send(inTurns(packed(entries())))
    },
  )
}

export const dashboardRoutes = inTurn(definitionRoutes, panelRoutes, templateRoutes)
