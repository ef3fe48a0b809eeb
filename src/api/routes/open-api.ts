/** The description of every route, made from the schemas that validate: for programs, and as a page. */
import { setImmediate } from 'node:timers/promises'
import swagger from '@fastify/swagger'
import type { FastifyReply, RouteOptions } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import type { Config } from '../../config/config.ts'
import { accessMode } from '../access/access-token.ts'
import { isOpenTo } from '../access/route-law.ts'
import type { Api } from '../api.ts'
import { completeDescription } from '../complete-description.ts'
import { answers, eitherWay } from '../contract/common.ts'
import { sendPage } from './web-client.ts'

const OPEN_API = '3.1.0'

/** The description writes `{id}` where the route has `:id`. */
const isPublicOf =
  ({ laws }: Api) =>
  (method: string, path: string): boolean => {
    const url = path.replace('{*}', '*').replace(/\{(\w+)\}/g, ':$1')
    const law = laws.find((each) => each.method === method.toUpperCase() && each.url === url)
    return law !== undefined && isOpenTo(law.least)
  }

type Describe = () => Promise<string>

/** Call this before the routes are added, since it collects them. Returns the description, which is made on first use. */
export function installDescription(api: Api, config: Config): Describe {
  const convert = createJsonSchemaTransform({ skipList: [] })
  const routes: RouteOptions[] = []
  const converted = new Map<RouteOptions, ReturnType<typeof convert>>()
  api.addHook('onRoute', (route) => void routes.push(route))
  const toComponents = createJsonSchemaTransformObject({})
  const mode = accessMode(config)
  const rules = { isPublic: isPublicOf(api), needsSignIn: mode === 'token' || mode === 'oidc' }
  void api.register(swagger, {
    // `/api-keys` is not a path below `/api`.
    stripBasePath: false,
    openapi: {
      openapi: OPEN_API,
      info: {
        title: 'Weir',
        version: packageFile.version,
        description:
          'Every path also answers below /api, and below /rest with an API key (Authorization: Bearer KEY). ' +
          'Failures carry { success: false, message }; the message says what to change. ' +
          'Paths below /v1 refuse query parameters that they do not describe; the others ignore them and say so in a Warning header.',
      },
      servers: [{ url: '/' }, { url: '/api' }],
    },
    transform: (input) => converted.get(input.route) ?? convert(input),
    transformObject: (input) => completeDescription(toComponents(input), rules),
  })
  let made: Promise<string> | undefined
  const make = async () => {
    // One route at a time, with other requests answered in between: all at once takes most of a second.
    for (const route of routes) {
      const { url, schema = {} } = route
      converted.set(route, convert({ url, schema, route, openapiObject: { openapi: OPEN_API } }))
      await setImmediate()
    }
    return JSON.stringify(api.swagger())
  }
  return () => (made ??= make())
}

const tags = ['system']

export function descriptionRoutes(api: Api, description: Describe): void {
  api.get(
    '/swagger/doc.json',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'This description',
        response: answers(200, z.any().meta({ description: 'OpenAPI 3.1.' })),
      },
    },
    async (_request, reply) => reply.type('application/json; charset=utf-8').send(await description()),
  )
  for (const path of ['/swagger', '/swagger/index.html']) {
    api.get(
      path,
      {
        config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
        schema: {
          tags,
          summary: 'This description: for browsers a page on which requests can be tried, for programs JSON',
          response: eitherWay('text/html', z.any(), 'OpenAPI 3.1, as a page or as JSON.'),
        },
      },
      async ({ headers }, reply) => {
        if (headers.accept?.includes('text/html')) return sendPage(reply as FastifyReply, 'reference.html')
        return reply.type('application/json; charset=utf-8').send(await description())
      },
    )
  }
}
