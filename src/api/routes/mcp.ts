import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { example } from '../../plugin-kit/spec/request-values.ts'
import { askAs } from '../access/delegate.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'

const MOST_MESSAGES = 20
const message = z
  .union([z.looseObject({}), z.array(z.looseObject({})).min(1).max(MOST_MESSAGES)])
  .meta(example({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))

/** Requests have no state in common, so that any server may answer them. The first request loads the library. */
export const mcpRoutes: Routes = (api) => {
  api.post(
    '/v1/mcp',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'list', cost: 'light' },
      schema: {
        tags: ['assistants'],
        summary: 'Model Context Protocol (Streamable HTTP, JSON answers): one message or a list of them',
        body: message,
        response: {
          ...answers(200, z.any().meta({ description: 'The answer, as JSON-RPC 2.0.' })),
          202: z.any().meta({ description: 'Accepted; there is no answer.' }),
        },
      },
    },
    async (request, reply) => {
      const version = request.headers['mcp-protocol-version']
      const headers = {
        // Replaces the Accept header of the client, since the answer is always JSON.
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
      }
      const [{ createMcpServer }, { WebStandardStreamableHTTPServerTransport }] = await Promise.all([
        import('../../mcp/server.ts'),
        import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
      ])
      const server = createMcpServer(askAs(api as unknown as FastifyInstance, request.user, request.ip))
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      try {
        await server.connect(transport)
        const asked = new Request('http://localhost/v1/mcp', { method: 'POST', headers })
        const answer = await transport.handleRequest(asked, { parsedBody: request.body })
        const text = await answer.text()
        if (answer.status >= 400) throw new UserError(problemIn(text), { status: answer.status })
        if (text === '') return reply.code(202).send()
        return reply
          .code(answer.status as 202)
          .type('application/json; charset=utf-8')
          .send(text)
      } finally {
        await server.close()
      }
    },
  )
}

function problemIn(text: string): string {
  const { error } = JSON.parse(text) as { error?: { message?: string } }
  return `This is not a message of the Model Context Protocol: ${error?.message ?? 'it cannot be read'}.`
}
