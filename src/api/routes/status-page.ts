/** What a browser sees at `/` until there is a web page: what runs, and where to go. */
import packageFile from '../../../package.json' with { type: 'json' }
import { UNFINISHED } from '../../pipelines/states.ts'
import { accessMode } from '../access/access-token.ts'
import type { Api, ApiContext, Routes } from '../api.ts'
import { streams } from '../contract/common.ts'
import { escapeHtml, page } from '../page.ts'

const LINKS = `<p><a href="swagger/index.html">Interface description</a> · the README lies beside the program:
<code>README.md</code></p>`
const REFRESH = '\n<meta http-equiv="refresh" content="10">'

async function overview({ services }: ApiContext): Promise<string> {
  const [projects, pipelines, waiting] = await Promise.all([
    services.projects.list({ pageSize: 1 }),
    services.pipelines.list({ pageSize: 10 }),
    services.pipelines.list({ pageSize: 1, pending: true }),
  ])
  const rows = pipelines.items.map(
    ({ id, name, status, finishedTasks, totalTasks, beganAt, message }) =>
      `<tr><td>${id}</td><td>${escapeHtml(name)}</td><td>${status.replace('TASK_', '').toLowerCase()}</td>
<td>${finishedTasks} of ${totalTasks}</td><td>${beganAt?.toISOString().slice(0, 16).replace('T', ' ') ?? ''}</td>
<td>${escapeHtml(message.split('\n')[0])}</td></tr>`,
  )
  const isBusy = pipelines.items.some(({ status }) => (UNFINISHED as readonly string[]).includes(status))
  return `<p>${projects.count} projects, ${pipelines.count} runs, ${waiting.count} of them not finished.
${isBusy ? 'It is at work.' : 'Nothing is running.'}</p>
<table><thead><tr><th>Run</th><th>Name</th><th>State</th><th>Tasks</th><th>Began (UTC)</th><th></th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`
}

const TOKEN_FORM = `<form method="post" action="auth/token">
<label>Access token <input name="token" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form>`

export const statusPageRoutes: Routes = (api: Api, context: ApiContext) => {
  const mode = accessMode(context.config)
  const signIn = mode === 'token' ? TOKEN_FORM : '<p><a href="auth/login">Sign in</a></p>'
  const title = `Weir ${packageFile.version}`
  const shownTo = async (isOpen: boolean) =>
    isOpen ? page(title, (await overview(context)) + LINKS, REFRESH) : page(title, signIn + LINKS)
  api.get(
    '/',
    {
      schema: {
        tags: ['system'],
        summary: 'A page for browsers: what runs',
        response: streams('text/html', 'A page.'),
      },
    },
    async ({ user }, reply) => {
      const isOpen = user !== undefined || mode === 'open' || mode === 'none'
      return reply.type('text/html; charset=utf-8').send(await shownTo(isOpen))
    },
  )
}
