import { Command } from 'commander'
import { askAs } from '../api/access/delegate.ts'
import { commandLineActor, openControl } from './control.ts'
import { createRuntime, withDatabase } from './runtime.ts'

export const mcp = new Command('mcp')
  .description('let an assistant ask for metrics over standard input and output (Model Context Protocol)')
  .addHelpText(
    'after',
    '\nFor assistants that start it themselves; it reads the database and changes nothing. A running server answers the same at\n/rest/v1/mcp with an API key. docs/assistants.md says how to add either to an assistant.',
  )
  .action(async () => {
    const runtime = createRuntime()
    const { config, log, signal } = runtime
    await withDatabase(runtime, async (database) => {
      const control = await openControl(runtime, database)
      const [{ createServer }, { createMcpServer }, { StdioServerTransport }] = await Promise.all([
        import('../api/server.ts'),
        import('../mcp/server.ts'),
        import('@modelcontextprotocol/sdk/server/stdio.js'),
      ])
      // Called within this process alone: nothing listens, and nobody else can use up the requests that are allowed in a minute.
      const api = await createServer({ config: { ...config, requestsPerMinute: 0 }, control, log })
      const server = createMcpServer(askAs(api, { ...commandLineActor(), grants: [{ role: 'viewer' }] }))
      const ended = new Promise<void>((done) => {
        for (const event of ['end', 'close'] as const) process.stdin.once(event, () => done())
        signal.addEventListener('abort', () => done(), { once: true })
        if (signal.aborted) done()
      })
      try {
        await server.connect(new StdioServerTransport())
        await ended
      } finally {
        await server.close()
        await api.close()
      }
    })
  })
