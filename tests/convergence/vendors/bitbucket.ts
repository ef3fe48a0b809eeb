import fc from 'fast-check'
import { bitbucket } from '../../../src/plugins/bitbucket/plugin.ts'
import { type FakeCloud, LOGIN, startFakeCloud } from '../../fake-bitbucket/cloud.ts'
import { CLOUD_CHANGES } from '../../fake-bitbucket/cloud-world.ts'
import { behindFaults, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

type ChangeName = keyof typeof CLOUD_CHANGES

/** The same people appear in all of these repositories. */
const REPOS = ['acme/web', 'acme/api', 'zoo/web']
const HOUR = 3_600_000
/** Changes that happen before a history begins. */
const BEFORE: readonly ChangeName[] = [
  ...([
    'open pull request',
    'open pull request',
    'comment',
    'approve',
    'merge',
    'open issue',
    'comment issue',
  ] as const),
  ...(['start pipeline', 'finish pipeline', 'start pipeline'] as const),
]
/** Lists by time of change do not show deletions. */
const WITHOUT_TRACE: readonly ChangeName[] = ['delete issue']

const CHANGES = Object.fromEntries(
  (Object.keys(CLOUD_CHANGES) as ChangeName[]).map((name): [string, VendorChange] => [
    name,
    {
      arguments: [fc.nat(REPOS.length - 1), fc.nat(9)],
      ...(WITHOUT_TRACE.includes(name) && { leavesNoTrace: true as const }),
    },
  ]),
)

const happen = (fake: FakeCloud, name: ChangeName, at: number, number: number, time: number) => {
  const repo = fake.world.repos[at]
  if (repo) CLOUD_CHANGES[name](fake.world, repo, number, new Date(time).toISOString())
}

export const bitbucketVendor: VendorUnderTest = {
  name: 'bitbucket',
  interfaces: [bitbucket],
  scopes: REPOS.map((name) => ({
    options: { fullName: name },
    row: { bitbucket_id: name, name: name.split('/')[1], html_url: `https://bitbucket.org/${name}` },
  })),
  rules: [
    { issue_status_todo: 'new,open', issue_status_done: 'closed,resolved', deployment_pattern: 'deploy' },
    { issue_status_other: 'new', deployment_pattern: 'release', production_pattern: 'production' },
    { issue_status_in_progress: 'open', deployment_pattern: '.*' },
    { issue_text_incident: '[2-5]', deployment_pattern: 'deploy', production_branch_pattern: '^main$' },
  ],
  lists: [
    '/pullrequests',
    '/comments',
    '/commits',
    '/issues',
    '/pipelines',
    '/steps',
    '/environments',
    '/deployments',
    '/commit/',
  ],
  startDate: (now) => new Date(now - 38 * HOUR),
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeCloud(REPOS)
        fake.clock.set(now())
        for (const at of REPOS.keys()) {
          for (const [index, name] of BEFORE.entries()) happen(fake, name, at, index, now() - (40 - index) * HOUR)
        }
        return fake
      },
      connection: (endpoint) => ({ endpoint: `${endpoint}2.0/`, ...LOGIN, uses_api_token: true }),
      change(fake, name, [at, number]) {
        fake.clock.set(now())
        happen(fake, name as ChangeName, at, number, now())
      },
    }),
}
