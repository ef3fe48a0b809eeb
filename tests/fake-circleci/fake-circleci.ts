/**
 * The part of CircleCI's API that the plugin uses, over real HTTP, with faults on demand and a world that changes while it
 * runs. Pipelines are listed newest first. A pipeline without a project is listed for every project.
 *
 * A pipeline without explicit workflows has one, `workflow-of-<pipeline>`, and a workflow without explicit jobs has two. As
 * in CircleCI, a pipeline does not show its workflows: neither a new one nor a rerun changes it. A rerun is a further
 * workflow of the same pipeline, listed before the earlier ones.
 */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeWorkflow {
  readonly id: string
  readonly pipeline_id: string
  readonly name: string
  status: string
  readonly pipeline_number: number
  readonly created_at: string | undefined
  stopped_at: string | null
}
export interface FakeJob {
  readonly id: string
  readonly job_number: number
  readonly name: string
  status: string
  readonly started_at: string | null
  stopped_at: string | null
}
export type FakePipeline = ReturnType<typeof pipeline> & { readonly project?: string }
export type FakeCircleci = Awaited<ReturnType<typeof startFakeCircleci>>

const PAGE = 20
export const TOKEN = 'secret-token'

function createWorld(pipelineCount: number) {
  const world = {
    /** The server's clock, which dates events and answers. */
    now: () => new Date(),
    pipelines: Array.from({ length: pipelineCount }, (_, index) => pipeline(pipelineCount - index)) as FakePipeline[],
    /** Workflows by pipeline. A pipeline without an entry has one workflow. */
    workflows: new Map<string, FakeWorkflow[]>(),
    /** Jobs by workflow. A workflow without an entry has two jobs. */
    jobs: new Map<string, FakeJob[]>(),
    /** The status of workflows that were not made explicitly. */
    workflowStatus: 'success',
  }
  let last = 1000
  const time = () => world.now().toISOString()
  const pipelineOf = (id: string) => world.pipelines.find((each) => each.id === id)
  const workflowsOf = (pipelineId: string): FakeWorkflow[] => world.workflows.get(pipelineId) ?? [usual(pipelineId)]
  const usual = (pipelineId: string): FakeWorkflow => ({
    id: `workflow-of-${pipelineId}`,
    pipeline_id: pipelineId,
    name: 'deploy',
    status: world.workflowStatus,
    pipeline_number: 1,
    created_at: pipelineOf(pipelineId)?.created_at,
    stopped_at: '2024-01-01T00:01:00Z',
  })
  const workflowOf = (id: string) =>
    world.pipelines.flatMap(({ id: pipelineId }) => workflowsOf(pipelineId)).find((each) => each.id === id)
  const jobsOf = (workflowId: string) => world.jobs.get(workflowId) ?? [job(workflowId, 1), job(workflowId, 2)]
  /** Running jobs and workflows have not stopped. */
  const stoppedAt = (status: string) => (['running', 'on_hold', 'queued'].includes(status) ? null : time())

  function addWorkflow(pipelineId: string, { status = 'success', name = 'deploy' } = {}): FakeWorkflow {
    const pipeline_number = pipelineOf(pipelineId)?.number ?? 0
    const times = { created_at: time(), stopped_at: stoppedAt(status) }
    const made = { id: `workflow-${++last}`, pipeline_id: pipelineId, name, status, pipeline_number, ...times }
    world.workflows.set(pipelineId, [made, ...(world.workflows.get(pipelineId) ?? [])])
    world.jobs.set(made.id, [])
    return made
  }
  return Object.assign(world, {
    workflowsOf,
    workflowOf,
    jobsOf,
    /** Creates a pipeline without workflows. `project` is the slug of the only project that lists it. */
    createPipeline({ project, state = 'created' }: { project?: string; state?: string } = {}): FakePipeline {
      const made = { ...pipeline(++last, world.now()), state, ...(project && { project }) }
      world.pipelines.unshift(made)
      world.workflows.set(made.id, [])
      return made
    },
    setPipelineState(id: string, state: string) {
      const index = world.pipelines.findIndex((each) => each.id === id)
      world.pipelines[index] = { ...(world.pipelines[index] as FakePipeline), state, updated_at: time() }
    },
    deletePipeline(id: string) {
      world.pipelines.splice(0, Infinity, ...world.pipelines.filter((each) => each.id !== id))
    },
    addWorkflow,
    /** Adds another workflow of the same pipeline, with the same jobs run again. */
    rerunWorkflow(id: string, { status = 'success' } = {}): FakeWorkflow {
      const { pipeline_id, name } = workflowOf(id) as FakeWorkflow
      world.workflows.set(pipeline_id, workflowsOf(pipeline_id))
      const made = addWorkflow(pipeline_id, { status, name })
      const times = { started_at: time(), stopped_at: stoppedAt(status) }
      const again = jobsOf(id).map((each) => ({ ...each, id: `${each.id}-in-${made.id}`, status, ...times }))
      world.jobs.set(made.id, again)
      return made
    },
    setWorkflowStatus(id: string, status: string) {
      const { pipeline_id } = workflowOf(id) as FakeWorkflow
      const list = workflowsOf(pipeline_id).map((each) =>
        each.id === id ? { ...each, status, stopped_at: stoppedAt(status) } : each,
      )
      world.workflows.set(pipeline_id, list)
    },
    addJob(workflowId: string, { status = 'success', name = 'deploy' } = {}): FakeJob {
      const number = ++last
      const made = { ...job(workflowId, number), name, status, started_at: time(), stopped_at: stoppedAt(status) }
      world.jobs.set(workflowId, [...jobsOf(workflowId), made])
      return made
    },
    setJobStatus(workflowId: string, jobId: string, status: string) {
      const list = jobsOf(workflowId).map((each) =>
        each.id === jobId ? { ...each, status, stopped_at: stoppedAt(status) } : each,
      )
      world.jobs.set(workflowId, list)
    },
  })
}

export async function startFakeCircleci(pipelineCount: number) {
  const world = createWorld(pipelineCount)
  const fake = Object.assign(world, {
    /** The requested paths with their queries. */
    requests: [] as string[],
    /** Statuses for the next requests whose path contains the text. */
    failures: [] as { path: string; status: number; message?: string }[],
    followed: ['web', 'api'].map((name) => ({
      id: `id-${name}`,
      name,
      org_id: 'acme-id',
      slug: `github/acme/${name}`,
    })),
  })
  const pageOf = (all: readonly unknown[], url: URL): Answer => {
    const start = Number(url.searchParams.get('page-token') ?? 0)
    const next_page_token = start + PAGE < all.length ? String(start + PAGE) : null
    return [200, { items: all.slice(start, start + PAGE), next_page_token }]
  }
  const routes: [RegExp, (url: URL, id: string) => Answer][] = [
    [/\/v2\/pipeline\/([^/]+)\/workflow$/, (url, id) => pageOf(fake.workflowsOf(id), url)],
    [/\/v2\/pipeline\/([^/]+)$/, (_url, id) => [200, fake.pipelines.find((each) => each.id === id)]],
    [/\/v2\/workflow\/([^/]+)\/job$/, (url, id) => pageOf(fake.jobsOf(id), url)],
    [/\/v2\/workflow\/([^/]+)$/, (_url, id) => [200, fake.workflowOf(id)]],
    [/^\/v2\/me$/, () => [200, { id: 'a', login: 'ada', name: 'Ada' }]],
    [/^\/private\/me$/, () => [200, { login: 'ada', followed_projects: fake.followed }]],
    [/\/me\/collaborations$/, () => [200, [{ id: 'a', name: 'Ada', slug: 'gh/ada', vcs_type: 'github' }]]],
    [/\/project\/([^/]+\/[^/]+\/[^/]+)$/, (_url, slug) => [200, { slug, name: 'web' }]],
    [/\/project\/(.+)\/pipeline$/, (url, slug) => pageOf(pipelinesIn(slug), url)],
    [/\/v2\/insights\/(.+)\/workflows$/, (url, slug) => pageOf(workflowNamesIn(slug), url)],
  ]
  const pipelinesIn = (slug: string) => fake.pipelines.filter(({ project = slug }) => project === slug)
  const workflowNamesIn = (slug: string) =>
    [...new Set(pipelinesIn(slug).flatMap(({ id }) => fake.workflowsOf(id).map(({ name }) => name)))].map((name) => ({
      name,
    }))
  function answerTo(url: URL): Answer {
    const place = fake.failures.findIndex(({ path }) => url.pathname.includes(path))
    const [failure] = place >= 0 ? fake.failures.splice(place, 1) : []
    if (failure) return [failure.status, { message: failure.message ?? 'as asked' }]
    for (const [form, answer] of routes) {
      const match = form.exec(url.pathname)
      const found = match && answer(url, decodeURIComponent(match[1] ?? ''))
      if (found?.[1] !== undefined && found?.[1] !== null) return found
    }
    return [404, { message: 'Not found' }]
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    fake.requests.push(request.url ?? '')
    const isLoggedIn = request.headers['circle-token'] === TOKEN
    const [status, body] = isLoggedIn ? answerTo(url) : [401, { message: 'You must log in first.' }]
    const text = JSON.stringify(body)
    const etag = `"${createHash('sha1').update(text).digest('hex')}"`
    const isKnown = status === 200 && request.headers['if-none-match'] === etag
    const headers = { 'content-type': 'application/json', etag, date: fake.now().toUTCString() }
    response.writeHead(isKnown ? 304 : status, headers)
    response.end(isKnown ? undefined : text)
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
type Answer = [status: number, body: unknown]

export const pipeline = (number: number, createdAt = new Date(Date.UTC(2024, 0, 1) + number * 60_000)) => ({
  id: `pipeline-${number}`,
  number,
  state: 'created',
  created_at: createdAt.toISOString(),
  updated_at: createdAt.toISOString(),
  vcs: { revision: `sha-${number}`, branch: 'main', origin_repository_url: 'https://github.com/acme/web' },
})
const job = (workflowId: string, number: number): FakeJob => ({
  id: `job-${number}-of-${workflowId}`,
  job_number: number,
  name: number === 1 ? 'build' : 'deploy',
  status: 'success',
  started_at: '2024-01-01T00:00:00Z',
  stopped_at: '2024-01-01T00:00:30Z',
})
