/** The description of every route, made from the schemas that validate: for programs, and as a page. */
import swagger from '@fastify/swagger'
import type { FastifyReply } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import type { Config } from '../../config.ts'
import { accessMode } from '../access/access-token.ts'
import { isOpenTo } from '../access/route-law.ts'
import type { Api } from '../api.ts'
import { completeDescription } from '../complete-description.ts'
import { answers, eitherWay } from '../contract/common.ts'
import { sendPage } from './web-client.ts'

/** `{id}` of the description is `:id` of the route. */
const isPublicOf =
  ({ laws }: Api) =>
  (method: string, path: string): boolean => {
    const url = path.replace('{*}', '*').replace(/\{(\w+)\}/g, ':$1')
    const law = laws.find((each) => each.method === method.toUpperCase() && each.url === url)
    return law !== undefined && isOpenTo(law.least)
  }

/** Before the routes: it collects them as they come. */
export function installDescription(api: Api, config: Config): void {
  const toComponents = createJsonSchemaTransformObject({})
  const mode = accessMode(config)
  const rules = { isPublic: isPublicOf(api), needsSignIn: mode === 'token' || mode === 'oidc' }
  void api.register(swagger, {
    // `/api-keys` does not lie below `/api`.
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
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
    transform: createJsonSchemaTransform({ skipList: [] }),
    transformObject: (input) => completeDescription(toComponents(input), rules),
  })
}

const tags = ['system']

export function descriptionRoutes(api: Api): void {
  let made: string | undefined
  const description = () => {
    made ??= JSON.stringify(api.swagger())
    return made
  }
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
    async (_request, reply) => reply.type('application/json; charset=utf-8').send(description()),
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
        return reply.type('application/json; charset=utf-8').send(description())
      },
    )
  }
}
