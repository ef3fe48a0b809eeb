/** The description of every route, made from the schemas that validate: for programs, and as a page. */
import { STATUS_CODES } from 'node:http'
import swagger from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import type { Api } from '../api.ts'
import { answers, streams } from '../contract/common.ts'
import { renderDescription } from '../description-page.ts'

/** Before the routes: it collects them as they come. */
export function installDescription(api: Api): void {
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
          'Failures carry { success: false, message }; the message says what to change.',
      },
      servers: [{ url: '/' }, { url: '/api' }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    },
    transform: createJsonSchemaTransform({ skipList: [] }),
    transformObject: createJsonSchemaTransformObject({}),
  })
}

/** Answers that no schema describes have the name of their status. */
function named<Document extends { paths?: object }>(document: Document): Document {
  for (const methods of Object.values(document.paths ?? {})) {
    for (const { responses = {} } of Object.values<any>(methods)) {
      for (const [status, answer] of Object.entries<any>(responses)) {
        if (answer.description === 'Default Response') answer.description = STATUS_CODES[status] ?? ''
      }
    }
  }
  return document
}

const tags = ['system']

export function descriptionRoutes(api: Api): void {
  let made: { readonly json: string; readonly page: string } | undefined
  const description = () => {
    if (made) return made
    const document = named(api.swagger())
    made = { json: JSON.stringify(document), page: renderDescription(document) }
    return made
  }
  api.get(
    '/swagger/doc.json',
    {
      schema: {
        tags,
        summary: 'This description',
        response: answers(200, z.any().meta({ description: 'OpenAPI 3.1.' })),
      },
    },
    async (_request, reply) => reply.type('application/json; charset=utf-8').send(description().json),
  )
  for (const path of ['/swagger', '/swagger/index.html']) {
    api.get(
      path,
      {
        schema: {
          tags,
          summary: 'This description: a page for browsers, JSON for programs',
          response: streams('text/html', 'OpenAPI 3.1, as a page or as JSON.'),
        },
      },
      async ({ headers }, reply) => {
        if (headers.accept?.includes('text/html')) {
          return reply.type('text/html; charset=utf-8').send(description().page)
        }
        return reply.type('application/json; charset=utf-8').send(description().json)
      },
    )
  }
}
