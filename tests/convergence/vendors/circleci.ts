import fc from 'fast-check'
import { circleci } from '../../../src/plugins/circleci/plugin.ts'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../../fake-circleci/fake-circleci.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const PROJECTS = ['web', 'api', 'ops']
const slugOf = (project: number) => `github/acme/${PROJECTS[project]}`
const ENDS = ['success', 'failed', 'canceled']

const project = fc.nat(PROJECTS.length - 1)
const any = fc.nat(9)
const end = fc.nat(ENDS.length - 1)

const CHANGES = {
  'create pipeline': { arguments: [project] },
  'add workflow': { arguments: [any, fc.boolean()] },
  'rerun workflow': { arguments: [any, fc.boolean()] },
  'finish workflow': { arguments: [any, end] },
  'add job': { arguments: [any] },
  // Pipelines are listed newest first, down to those that are known, so a deletion is not seen.
  'delete pipeline': { arguments: [any], leavesNoTrace: true },
} as const satisfies Record<string, VendorChange>

const workflowsIn = (fake: FakeCircleci) => fake.pipelines.flatMap(({ id }) => fake.workflowsOf(id))
const running = (fake: FakeCircleci) => workflowsIn(fake).filter(({ status }) => status === 'running')

const APPLY: Record<keyof typeof CHANGES, (fake: FakeCircleci, ...parameters: any[]) => void> = {
  'create pipeline': (fake, at) => void fake.createPipeline({ project: slugOf(at) }),
  'add workflow'(fake, number, isRunning) {
    const pipeline = pick(fake.pipelines, number)
    if (!pipeline) return
    const { id, status } = fake.addWorkflow(pipeline.id, { status: isRunning ? 'running' : 'success' })
    fake.addJob(id, { status })
  },
  'rerun workflow'(fake, number, isRunning) {
    const workflow = pick(workflowsIn(fake), number)
    if (workflow) fake.rerunWorkflow(workflow.id, { status: isRunning ? 'running' : 'failed' })
  },
  'finish workflow'(fake, number, at) {
    const workflow = pick(running(fake), number)
    if (!workflow) return
    const status = ENDS[at] as string
    for (const job of fake.jobsOf(workflow.id)) {
      if (job.status === 'running') fake.setJobStatus(workflow.id, job.id, status)
    }
    fake.setWorkflowStatus(workflow.id, status)
  },
  'add job'(fake, number) {
    const workflow = pick(running(fake), number)
    if (workflow) fake.addJob(workflow.id, { name: 'build', status: 'running' })
  },
  'delete pipeline'(fake, number) {
    const pipeline = pick(fake.pipelines, number)
    if (pipeline) fake.deletePipeline(pipeline.id)
  },
}

export const circleciVendor: VendorUnderTest = {
  name: 'circleci',
  interfaces: [circleci],
  scopes: PROJECTS.map((name, index) => ({
    options: { projectSlug: slugOf(index) },
    row: { id: `id-${name}`, slug: slugOf(index), name },
  })),
  rules: [
    { deployment_pattern: 'deploy' },
    { deployment_pattern: 'build' },
    { production_pattern: 'deploy' },
    { deployment_pattern: 'deploy', production_branch_pattern: '^main$' },
  ],
  lists: ['/pipeline', '/workflow', '/job', '/collaborations', 'acme/web'],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeCircleci(0)
        fake.now = () => new Date(now())
        for (let number = 0; number < 5; number++) {
          const { id } = fake.createPipeline({ project: slugOf(number % 3) })
          if (number > 0) APPLY['add workflow'](fake, 0, number === 4)
          if (number === 2) fake.addWorkflow(id, { name: 'build' })
        }
        return fake
      },
      connection: (endpoint) => ({ endpoint, token: TOKEN }),
      change: (fake, name, parameters) => APPLY[name as keyof typeof CHANGES](fake, ...parameters),
    }),
}
