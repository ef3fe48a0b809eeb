/** The web client, built by Vite into web/dist: its page at all of its addresses, and what the page loads. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Api, Routes } from '../api.ts'
import { streams } from '../contract/common.ts'
import { page } from '../page.ts'

const BUILT = join(import.meta.dirname, '../../../web/dist')
const NOT_BUILT = page(
  'Weir is running without its pages',
  `<p>They are not built: stop the server and start it with <code>npm start</code>, which builds them.</p>
<p><a href="/swagger/doc.json">The description of the API, for programs</a></p>`,
)

/** Read each time, so that a newly built client is served at once. */
export async function sendPage(reply: FastifyReply, file: 'index.html' | 'reference.html') {
  const text = await readFile(join(BUILT, file), 'utf8').catch(() => NOT_BUILT)
  return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(text)
}

export const webClientRoutes: Routes = (api: Api) => {
  api.get(
    '/',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags: ['system'],
        summary: 'The web client: a page for browsers',
        response: streams('text/html', 'A page.'),
      },
    },
    async (_request, reply) => sendPage(reply, 'index.html'),
  )
  const assets = join(BUILT, 'assets')
  if (!existsSync(assets)) return
  // The name of a file changes with its content.
  void api.register(staticFiles, { root: assets, immutable: true, maxAge: '1y', preCompressed: true, serve: false })
  api.get(
    '/assets/*',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { hide: true, params: z.object({ '*': z.string() }) },
    },
    ({ params }, reply) => reply.sendFile(params['*']),
  )
}
