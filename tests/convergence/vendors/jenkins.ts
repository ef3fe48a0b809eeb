import fc from 'fast-check'
import { jenkins } from '../../../src/plugins/jenkins/plugin.ts'
import { type FakeJenkins, PREFIX, startFakeJenkins, TOKEN, USER } from '../../fake-jenkins/fake-jenkins.ts'
import { shaOf } from '../../fake-jenkins/generate.ts'
import { CLASSES, type FakeItem } from '../../fake-jenkins/world.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const SCOPES = ['team/app', 'team/tool', 'nightly']
const PROJECT = 'team/app'
const BRANCHES = ['main', 'feature%2Fa', 'feature%2Fb']
const ENDS = ['SUCCESS', 'FAILURE', 'ABORTED', 'UNSTABLE']

const any = fc.nat(9)
const end = fc.nat(ENDS.length - 1)

const CHANGES = {
  'start build': { arguments: [any] },
  'run build': { arguments: [any, end] },
  'trigger build': { arguments: [any] },
  'finish build': { arguments: [any, end] },
  'delete last build': { arguments: [any] },
  'add branch': { arguments: [any] },
  'delete branch': { arguments: [any] },
  'rename branch': { arguments: [any] },
  'make job again': { arguments: [any, end] },
  // Builds are listed newest first, down to those that are known, so a deletion is not seen.
  'delete build': { arguments: [any, any], leavesNoTrace: true },
} as const satisfies Record<string, VendorChange>

const jobsIn = (fake: FakeJenkins): FakeItem[] => [...fake.items.values()].filter(({ builds }) => builds)
const branchesIn = (fake: FakeJenkins): FakeItem[] => fake.childrenOf(PROJECT)
const runningIn = (fake: FakeJenkins) =>
  jobsIn(fake).flatMap(({ builds = [] }) => builds.filter(({ building }) => building))

function build(fake: FakeJenkins, number: number, options: object): void {
  const job = pick(jobsIn(fake), number)
  if (!job) return
  const sha = shaOf(`${job.fullName} ${job.last} ${fake.now()}`)
  const commits = [
    { sha, url: 'https://git.example.com/app.git' },
    ...(number % 2 ? [{ sha: shaOf(sha), url: 'https://git.example.com/library.git' }] : []),
  ]
  const stages = number % 3 === 0 ? [] : ['build', 'deploy to production']
  fake.build(job.fullName, { commits, stages, ...options })
}

const APPLY: Record<keyof typeof CHANGES, (fake: FakeJenkins, ...parameters: any[]) => void> = {
  'start build': (fake, number) => build(fake, number, { building: true }),
  'run build': (fake, number, at) => build(fake, number, { result: ENDS[at] }),
  'trigger build': (fake, number) => build(fake, number, { upstream: { project: 'nightly', build: 1 } }),
  'finish build'(fake, number, at) {
    const running = pick(runningIn(fake), number)
    if (running) fake.finish(running, ENDS[at] as string)
  },
  'delete last build'(fake, number) {
    const job = pick(jobsIn(fake), number)
    if (job?.builds?.[0]) fake.deleteBuild(job.fullName, job.builds[0].number)
  },
  'add branch'(fake, number) {
    const name = `${PROJECT}/${BRANCHES[number % BRANCHES.length]}`
    if (!fake.items.has(name)) fake.add('pipeline', name)
  },
  'delete branch'(fake, number) {
    const branch = pick(branchesIn(fake), number)
    if (branch) fake.delete(branch.fullName)
  },
  'rename branch'(fake, number) {
    const branch = pick(branchesIn(fake), number)
    if (branch) fake.rename(branch.fullName, `${PROJECT}/renamed-${number}`)
  },
  'make job again'(fake, number, at) {
    const job = pick(jobsIn(fake), number)
    if (!job) return
    fake.delete(job.fullName)
    fake.add(job._class === CLASSES.pipeline ? 'pipeline' : 'freestyle', job.fullName)
    for (let count = 0; count < number % 4; count++) fake.build(job.fullName, { result: ENDS[at] as string })
  },
  'delete build'(fake, number, at) {
    const job = pick(jobsIn(fake), number)
    const gone = job && pick(job.builds ?? [], at)
    if (gone) fake.deleteBuild(job.fullName, gone.number)
  },
}

export const jenkinsVendor: VendorUnderTest = {
  name: 'jenkins',
  interfaces: [jenkins],
  module: 'src/plugins/jenkins/plugin.ts',
  scopes: SCOPES.map((full_name) => ({
    options: { fullName: full_name },
    row: { full_name, name: full_name.slice(full_name.lastIndexOf('/') + 1) },
  })),
  rules: [
    { deployment_pattern: 'deploy' },
    { deployment_pattern: 'nightly' },
    { production_pattern: 'production' },
    { production_branch_pattern: '^main$' },
  ],
  lists: ['tree=_class', 'allBuilds', '/wfapi/', 'team/job/tool', '/2/api/json'],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeJenkins()
        fake.now = () => new Date(now())
        // Stored rows contain the server's address, and the proxy has another one at each start.
        fake.setAddress('http://jenkins.example.com/jenkins/')
        fake.add('folder', 'team')
        fake.add('multibranch', PROJECT)
        for (const branch of BRANCHES.slice(0, 2)) fake.add('pipeline', `${PROJECT}/${branch}`)
        fake.add('pipeline', 'team/tool')
        fake.add('freestyle', 'nightly')
        for (let number = 0; number < 7; number++) APPLY['run build'](fake, number, number % ENDS.length)
        APPLY['start build'](fake, 1)
        return fake
      },
      connection: (url) => ({ endpoint: new URL(`.${PREFIX}/`, url).href, username: USER, password: TOKEN }),
      change: (fake, name, parameters) => APPLY[name as keyof typeof CHANGES](fake, ...parameters),
    }),
}
