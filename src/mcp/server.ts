/** The Model Context Protocol, through which assistants ask and can only read. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import packageFile from '../../package.json' with { type: 'json' }
import type { Ask } from './ask.ts'
import { bound } from './bounds.ts'
import { type Result, type Tool, tools } from './tools.ts'

const INSTRUCTIONS =
  'Weir measures how software is delivered. Begin with list_projects and read_answer; values carry their unit and a ' +
  'wording, and a change that may be chance is said to be. If a number is surprising, call explain_metric, then ' +
  'read_items. Nothing here changes anything.'

/** A server for one client, which may see whatever `ask` may see. */
export function createMcpServer(ask: Ask): McpServer {
  const server = new McpServer({ name: 'weir', version: packageFile.version }, { instructions: INSTRUCTIONS })
  for (const tool of tools) register(server, tool, ask)
  return server
}

function register(server: McpServer, { name, title, description, input, run }: Tool, ask: Ask): void {
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: input,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async (values: unknown) => contentOf(await run(ask, values)),
  )
}

function contentOf(result: Result) {
  if ('failure' in result) return { isError: true, content: [{ type: 'text' as const, text: result.failure }] }
  const { value, cuts } = bound(result.answer)
  const cut = cuts.length > 0 ? [`Cut to ${cuts.join('; ')}: ask for a shorter time, longer buckets or a page.`] : []
  const hints = [...(result.hint ? [result.hint] : []), ...cut]
  const content = [JSON.stringify(value), ...hints].map((text) => ({ type: 'text' as const, text }))
  return { content }
}
