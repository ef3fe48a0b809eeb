/** Starts the real server in a separate process, for requests over HTTP. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCli } from '../../support/cli.ts'

export interface LiveServer {
  readonly url: string
  readonly dataFolder: string
  output(): string
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: any; text: string }>
  stop(): Promise<void>
}

export const newDataFolder = (): string => mkdtempSync(join(tmpdir(), 'weir-live-'))

export async function startLiveServer(
  databaseUrl: string,
  environment: Record<string, string> = {},
  dataFolder = newDataFolder(),
): Promise<LiveServer> {
  const cli = startCli(['up'], { DB_URL: databaseUrl, PORT: '0', DATA_FOLDER: dataFolder, ...environment })
  const [, url = ''] = await cli.saw(/ready at (http:\S+)/)
  return {
    url,
    dataFolder,
    output: () => cli.output() + cli.errors(),
    async ask(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('application/json') && text !== ''
      return { status: response.status, text, body: isJson ? JSON.parse(text) : text }
    },
    async stop() {
      cli.kill('SIGTERM')
      await cli.ended
    },
  }
}
