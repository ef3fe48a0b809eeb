/** As much of CircleCI's API as the plugin asks for, over real HTTP, with faults on demand. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeCircleci {
  readonly url: string
  /** Paths asked for, with query. */
  readonly requests: string[]
  readonly pipelines: { id: string; created_at: string }[]
  /** Statuses that the next requests whose path contains the text are answered with. */
  readonly failures: { path: string; status: number }[]
  readonly followed: { id: string; name: string; org_id: string; slug: string }[]
  workflowStatus: string
  stop(): Promise<void>
}

const PAGE = 20
export const TOKEN = 'secret-token'

export async function startFakeCircleci(pipelineCount: number): Promise<FakeCircleci> {
  const fake = {
    requests: [] as string[],
    failures: [] as { path: string; status: number }[],
    workflowStatus: 'success',
    followed: ['web', 'api'].map((name) => ({
      id: `id-${name}`,
      name,
      org_id: 'acme-id',
      slug: `github/acme/${name}`,
    })),
    pipelines: Array.from({ length: pipelineCount }, (_, index) => pipeline(pipelineCount - index)),
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    fake.requests.push(request.url ?? '')
    const failure = fake.failures.findIndex(({ path }) => url.pathname.includes(path))
    const answer = (status: number, body: unknown) => {
      const text = JSON.stringify(body)
      const etag = `"${createHash('sha1').update(text).digest('hex')}"`
      const isKnown = status === 200 && request.headers['if-none-match'] === etag
      response.writeHead(isKnown ? 304 : status, { 'content-type': 'application/json', etag })
      response.end(isKnown ? undefined : text)
    }
    if (request.headers['circle-token'] !== TOKEN) return answer(401, { message: 'You must log in first.' })
    if (failure >= 0) return answer(fake.failures.splice(failure, 1)[0]?.status ?? 500, { message: 'as asked' })
    const [, pipelineId] = /\/v2\/pipeline\/([^/]+)\/workflow$/.exec(url.pathname) ?? []
    const [, jobsOf] = /\/v2\/workflow\/([^/]+)\/job$/.exec(url.pathname) ?? []
    const [, workflowId] = /\/v2\/workflow\/([^/]+)$/.exec(url.pathname) ?? []
    if (pipelineId) return answer(200, { items: [workflow(pipelineId)], next_page_token: null })
    if (jobsOf) return answer(200, { items: [job(jobsOf, 1), job(jobsOf, 2)], next_page_token: null })
    if (workflowId) return answer(200, workflow(workflowId.replace('workflow-of-', '')))
    if (url.pathname === '/v2/me') return answer(200, { id: 'a', login: 'ada', name: 'Ada' })
    if (url.pathname === '/private/me') return answer(200, { login: 'ada', followed_projects: fake.followed })
    if (url.pathname.endsWith('/me/collaborations'))
      return answer(200, [{ id: 'a', name: 'Ada', slug: 'gh/ada', vcs_type: 'github' }])
    if (!url.pathname.endsWith('/pipeline')) return answer(404, { message: 'Not found' })
    const start = Number(url.searchParams.get('page-token') ?? 0)
    const items = fake.pipelines.slice(start, start + PAGE)
    answer(200, { items, next_page_token: start + PAGE < fake.pipelines.length ? String(start + PAGE) : null })
  })
  const workflow = (pipelineId: string) => ({
    id: `workflow-of-${pipelineId}`,
    pipeline_id: pipelineId,
    name: 'deploy',
    status: fake.workflowStatus,
    pipeline_number: 1,
    created_at: fake.pipelines.find(({ id }) => id === pipelineId)?.created_at,
    stopped_at: '2024-01-01T00:01:00Z',
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(fake, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  })
}

export const pipeline = (number: number, createdAt = new Date(Date.UTC(2024, 0, 1) + number * 60_000)) => ({
  id: `pipeline-${number}`,
  number,
  state: 'created',
  created_at: createdAt.toISOString(),
  updated_at: createdAt.toISOString(),
  vcs: { revision: `sha-${number}`, branch: 'main', origin_repository_url: 'https://github.com/acme/web' },
})
const job = (workflowId: string, number: number) => ({
  id: `job-${number}-of-${workflowId}`,
  job_number: number,
  name: number === 1 ? 'build' : 'deploy',
  status: 'success',
  started_at: '2024-01-01T00:00:00Z',
  stopped_at: '2024-01-01T00:00:30Z',
})
