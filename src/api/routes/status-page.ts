/** What a browser sees at `/` until there is a web page: what runs, and where to go. */
import packageFile from '../../../package.json' with { type: 'json' }
import { nextTick } from '../../pipelines/cron.ts'
import type { Pipeline } from '../../pipelines/records.ts'
import type { Services } from '../../pipelines/services.ts'
import { UNFINISHED } from '../../pipelines/states.ts'
import type { Plugin } from '../../plugin-kit/subtask.ts'
import { accessMode } from '../access/access-token.ts'
import { mayEverywhere } from '../access/roles.ts'
import type { Api, ApiContext, Routes } from '../api.ts'
import { streams } from '../contract/common.ts'
import { escapeHtml, page } from '../page.ts'
import { signInPage } from '../sign-in-page.ts'

const LINKS = `<p><a href="swagger/index.html">Interface description</a> · the README lies beside the program:
<code>README.md</code></p>`
const REFRESH = '\n<meta http-equiv="refresh" content="10">'

async function overview({ services, plugins }: ApiContext): Promise<string> {
  const [projects, pipelines, waiting] = await Promise.all([
    services.projects.list({ pageSize: 1 }),
    services.pipelines.list({ pageSize: 10 }),
    services.pipelines.list({ pageSize: 1, pending: true }),
  ])
  const isBusy = pipelines.items.some(({ status }) => (UNFINISHED as readonly string[]).includes(status))
  const counts = `<p>${counted(projects.count, 'project')}, ${counted(pipelines.count, 'run')}, ${waiting.count} of them not finished.
${isBusy ? 'It is at work.' : 'Nothing is running.'}</p>`
  if (pipelines.count > 0) return counts + runTable(pipelines.items)
  return counts + (projects.count === 0 ? firstSteps(plugins) : await firstRun(services))
}

const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`
const utcMinute = (moment: Date) => moment.toISOString().slice(0, 16).replace('T', ' ')

function runTable(runs: readonly Pipeline[]): string {
  const rows = runs.map(
    ({ id, name, status, finishedTasks, totalTasks, beganAt, message }) =>
      `<tr><td>${id}</td><td>${escapeHtml(name)}</td><td>${status.replace('TASK_', '').toLowerCase()}</td>
<td>${finishedTasks} of ${totalTasks}</td><td>${beganAt ? utcMinute(beganAt) : ''}</td>
<td>${escapeHtml(message.split('\n')[0])}</td></tr>`,
  )
  return `<table><thead><tr><th>Run</th><th>Name</th><th>State</th><th>Tasks</th><th>Began (UTC)</th><th></th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`
}

function firstSteps(plugins: readonly Plugin[]): string {
  const sources = plugins.flatMap(({ source }) => (source && !source.settingsOf ? [escapeHtml(source.title)] : []))
  return `<h2>First steps</h2>
<ol>
<li>Write down where to collect (${sources.join(', ')}) and for which project: <code>docs/configuration.md</code>
beside the program has a file to start from.</li>
<li><code>npx weir config apply FILE.yaml</code> connects the sources and creates the project.</li>
<li><code>npx weir collect PROJECT</code> collects now; later runs come by the schedule.</li>
</ol>
<p>The same can be done over the interface: a connection (<code>POST plugins/github/connections</code>), its scopes, a
project, a trigger.</p>`
}

async function firstRun({ blueprints, projects }: Services): Promise<string> {
  const [{ items: scheduled }, { items: newest }] = await Promise.all([
    blueprints.list({ enable: true, isManual: false, pageSize: 100 }),
    projects.list({ pageSize: 1 }),
  ])
  const times = scheduled.flatMap(({ cronConfig }) => nextTick(cronConfig, new Date()) ?? [])
  const next = times.sort((one, other) => one.getTime() - other.getTime())[0]
  const name = escapeHtml(newest[0]?.name ?? 'PROJECT')
  return `<p>Nothing has run yet. ${next ? `The schedule begins at ${utcMinute(next)} UTC.` : 'Nothing is scheduled.'}
To collect now: <code>npx weir collect "${name}"</code></p>`
}

export const statusPageRoutes: Routes = (api: Api, context: ApiContext) => {
  const mode = accessMode(context.config)
  const title = `Weir ${packageFile.version}`
  const shownTo = async (isOpen: boolean) =>
    isOpen ? page(title, (await overview(context)) + LINKS, REFRESH) : signInPage(context.config, '')
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
      const isOpen = mayEverywhere(user?.grants ?? [], 'viewer') || mode === 'open' || mode === 'none'
      return reply.type('text/html; charset=utf-8').send(await shownTo(isOpen))
    },
  )
}
