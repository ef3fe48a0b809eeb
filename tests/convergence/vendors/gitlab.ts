import fc from 'fast-check'
import { gitlab } from '../../../src/plugins/gitlab/plugin.ts'
import { ACTS, type ActName } from '../../fake-gitlab/changes.ts'
import { changeTimes, deliveriesSince } from '../../fake-gitlab/deliveries.ts'
import { DEFAULT_TOKEN, startFakeGitlab } from '../../fake-gitlab/fake-gitlab.ts'
import { createWorld, type ProjectOptions, type WorldOptions } from '../../fake-gitlab/world.ts'
import { behindFaults, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

/** The same people are members of all these projects, and the fork has commits of the first. */
const PROJECTS = ['acme/web', 'acme/api', 'user-1/web']
const FEW: Omit<ProjectOptions, 'path'> = {
  issues: 3,
  mergeRequests: 3,
  commitsPerMergeRequest: [1, 2],
  notesPerMergeRequest: [0, 2],
  pipelines: 2,
  childPipelines: 1,
  externalPipelines: 1,
  jobsPerPipeline: 1,
  deployments: 2,
  releases: 2,
}
const WORLD: WorldOptions = {
  users: 5,
  projects: PROJECTS.map((path, index) => ({ path, ...FEW, ...(index === 2 && { forkOf: 'acme/web' }) })),
}
const DAYS = 10 * 24 * 3_600_000

/** Changes that show neither in a time of change nor in a list that is read completely. */
const WITHOUT_TRACE: readonly ActName[] = [
  'remove issue',
  'remove note',
  'remove merge request',
  'remove pipeline',
  'remove deployment',
  // Records of issues and merge requests also contain people, but do not change with them.
  'rename user',
]
const numbers = [fc.nat(PROJECTS.length - 1), fc.nat(9), fc.nat(7)]
const CHANGES = Object.fromEntries(
  (Object.keys(ACTS) as ActName[]).map((name): [string, VendorChange] => [
    name,
    { arguments: numbers, ...(WITHOUT_TRACE.includes(name) && { leavesNoTrace: true as const }) },
  ]),
)

export const gitlabVendor: VendorUnderTest = {
  name: 'gitlab',
  interfaces: [gitlab],
  scopes: createWorld(WORLD).projects.map(({ id, path }) => ({
    options: { projectId: id },
    row: {
      gitlab_id: id,
      name: path.split('/')[1],
      path_with_namespace: path,
      web_url: `https://gitlab.example.com/${path}`,
    },
  })),
  rules: [
    {
      issue_type_bug: 'bug',
      issue_type_incident: 'incident',
      deployment_pattern: 'deploy',
      env_name_pattern: '(?i)prod',
    },
    { issue_type_incident: 'bug', issue_component: 'component(.*)', deployment_pattern: 'release' },
    { issue_type_bug: 'bug', issue_text_incident: '[2-5]', production_branch_pattern: '^main$' },
    {
      pr_body_close_pattern: '(?mi)(fixes|closes) +((\\S*%s)?(#|/-/issues/)\\d+( and )?)+',
      production_pattern: 'production',
      deployment_pattern: '.*',
    },
  ],
  lists: [
    '/issues',
    '/merge_requests',
    '/notes',
    '/commits',
    '/pipelines',
    '/jobs',
    '/deployments',
    '/releases',
    '/members',
  ],
  startDate: (now) => new Date(now - DAYS / 2),
  changes: CHANGES,
  unlike: {
    '_tool_gitlab_commits.web_url':
      'the row of a commit is shared by all projects that have it, and each tells its own address',
  },
  start: (now) =>
    behindFaults({
      async begin() {
        const [from, until] = [now() - DAYS, now()].map((time) => new Date(time).toISOString())
        const fake = await startFakeGitlab({ world: { ...WORLD, ...(from && until && { from, until }) } })
        fake.clock.set(now())
        return fake
      },
      connection: (endpoint) => ({ endpoint: `${endpoint}api/v4/`, token: DEFAULT_TOKEN }),
      change(fake, act, [at, ...rest], { send }) {
        fake.clock.set(now())
        const project = PROJECTS[at] as string
        const before = changeTimes(fake, project)
        fake.update({ project, act: act as ActName, with: rest })
        for (const each of deliveriesSince(fake, project, before)) send(each)
      },
    }),
}
