/** Adds the routes that a plugin defines itself. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { doRecorded, recordChange } from '../../control-plane/audit/record.ts'
import type { Blueprint } from '../../control-plane/records.ts'
import { marksOf } from '../../control-plane/scopes/scope-layers.ts'
import { keyTitles, sampleRecords } from '../../control-plane/scopes/scope-records.ts'
import { FatalError } from '../../errors.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import type { LastTasks, Route, RouteServer } from '../../plugin-kit/spec/route.ts'
import { actorOf } from '../access/gate.ts'
import type { Api, ApiContext } from '../api.ts'
import { askSource } from '../ask-source.ts'
import { answers, LARGEST_PAGE, streams, success } from '../contract/common.ts'
import { done } from '../envelope.ts'
import { patience, stopWith } from '../stream.ts'
import { consumes, uploadRoutes } from '../upload.ts'

export function ownRoutes(api: Api, plugin: Plugin, context: ApiContext): void {
  const { routes = [] } = plugin
  for (const route of routes) if (route.size !== 'file') addRoute(api, plugin, route, context)
  const uploads = routes.filter(({ size }) => size === 'file')
  if (uploads.length > 0) {
    uploadRoutes(api, (scope) => {
      for (const route of uploads) addRoute(scope, plugin, route, context)
    })
  }
}

function addRoute(api: Api, plugin: Plugin, route: Route, context: ApiContext): void {
  const { method, path: url, summary, tag = plugin.name, params, query, body, csv, failures = [] } = route
  const { least, reach = 'everywhere', size, cost } = route
  const handle = runOf(plugin, route, context)
  api.route({
    method,
    url,
    config: { least, reach, size, cost },
    schema: {
      tags: [tag],
      summary,
      ...(params && { params }),
      ...(query && { querystring: query }),
      ...(body && { body }),
      ...(size === 'file' && { consumes }),
      response: csv
        ? streams('text/csv', `Columns: ${csv.columns.join(', ')}.`, ...failures)
        : answers(200, route.answer ?? success, ...failures),
    },
    async handler(request, reply) {
      const result = await handle(request, reply)
      if (csv) {
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${csv.name}"`)
          .send(result)
      }
      return route.answer ? result : done()
    },
  })
}

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

function runOf(plugin: Plugin, { method, path, csv, run, runInThread }: Route, context: ApiContext): Handle {
  const { database, longWork } = context
  if (runInThread) {
    return (request) => {
      const { params, query } = request
      const body = request.body as Readonly<Record<string, unknown>> | undefined
      const asked = { plugin: plugin.name, method, path, actor: actorOf(request), request: { params, query, body } }
      return longWork.run('runRoute', database.url(), asked)
    }
  }
  if (!run || csv) throw new FatalError(`${method} ${path} runs nowhere: a route that sends a file runs in a thread.`)
  return (request, reply) => run(request as Parameters<typeof run>[0], serverOf(plugin, context, request, reply))
}

function serverOf(
  { name, source }: Plugin,
  { database, plugins, services, servicesFor, heavy }: ApiContext,
  request: FastifyRequest,
  reply: FastifyReply,
): RouteServer {
  return {
    database,
    record: (inside, change) => recordChange(inside.kysely, actorOf(request), { before: null, ...change }),
    doRecorded: (change, act) => doRecorded(database, actorOf(request), change, act),
    ask(connectionId, ask) {
      if (!source) throw new FatalError(`${name} has no connections to ask by.`)
      const stop = stopWith(reply)
      return askSource(source, services, connectionId, (client) =>
        ask((question) => client.send(question, patience(stop))),
      )
    },
    findGroups: (...args) => heavy.run('findGroups', ...args),
    paramsOf: async (place) => (await marksOf({ database, plugins }, place)).params,
    async sampleRecords(place, rawTable) {
      const marks = await marksOf({ database, plugins }, place)
      const records = await sampleRecords({ database, plugins }, marks, rawTable)
      return { records, titles: await keyTitles({ database, plugins }, marks) }
    },
    async lastTasks() {
      const { items } = await services.blueprints.list({ pageSize: LARGEST_PAGE })
      return items.map(lastTasksOf)
    },
    async changeLastTasks(id, change) {
      const changed = await servicesFor(request).blueprints.update(id, (before) => ({
        [before.mode === 'ADVANCED' ? 'plan' : 'afterPlan']: change(lastTasksOf(before).plan),
      }))
      return lastTasksOf(changed)
    },
  }
}

/** An ADVANCED plan is everything that runs; a NORMAL plan can only be extended at its end. */
const lastTasksOf = ({ id, projectName, mode, plan, afterPlan }: Blueprint): LastTasks => ({
  blueprintId: id,
  projectName,
  plan: mode === 'ADVANCED' ? plan : (afterPlan ?? []),
})
