import fc from 'fast-check'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import { githubGraphql } from '../../../src/plugins/github/graphql-plugin.ts'
import { github } from '../../../src/plugins/github/plugin.ts'
import { deliveryOf } from '../../fake-github/deliveries.ts'
import { createWorld, DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../../fake-github/fake-github.ts'
import type { Change } from '../../fake-github/world/changes.ts'
import type { Item } from '../../fake-github/world/records.ts'
import type { Collections, Repository } from '../../fake-github/world/repository.ts'
import type { RepositorySettings, WorldOptions } from '../../fake-github/world/settings.ts'
import {
  behindFaults,
  pick,
  type SentChange,
  type VendorChange,
  type VendorUnderTest,
} from '../support/vendor-under-test.ts'

/** The same people appear in all of these repositories, and the fork has commits of the first. */
const REPOSITORIES = ['acme/web', 'acme/api', 'user-1/web']
const FEW: Partial<RepositorySettings> = {
  issues: 3,
  pullRequests: 3,
  workflowRuns: 2,
  labels: 3,
  milestones: 2,
  commits: 3,
  deployments: 2,
  releases: 2,
  jobsPerRun: 1,
  commentsPerIssue: [0, 2],
  eventsPerIssue: [0, 2],
  commitsPerPullRequest: [1, 2],
  reviewsPerPullRequest: [0, 2],
  commentsPerReview: [0, 1],
  statusesPerDeployment: [1, 2],
}
/** Later runs look through the runs of 30 days and the deployments of 90, so everything is younger. */
const DAYS = 10 * 24 * 3_600_000
const WORLD: WorldOptions = {
  users: 5,
  repositories: REPOSITORIES.map((name, index) => ({ name, ...FEW, ...(index === 2 && { parent: 'acme/web' }) })),
}
const LABELS = ['bug', 'incident', 'component/ui']
const ENDS = ['success', 'failure']
const STATES = ['in_progress', 'success', 'failure', 'inactive'] as const

const repository = fc.nat(REPOSITORIES.length - 1)
const any = fc.nat(9)
const labels = fc.nat(7)

const QUIET = 'remove quiet issue'

const CHANGES = {
  'open issue': { arguments: [repository, labels] },
  'edit issue': { arguments: [repository, any, labels] },
  'assign issue': { arguments: [repository, any, fc.nat(3)] },
  'close issue': { arguments: [repository, any] },
  'reopen issue': { arguments: [repository, any] },
  'remove issue': { arguments: [repository, any], leavesNoTrace: true },
  /** Removes an issue without children. Over GraphQL this leaves a trace, because every run counts the issues. */
  [QUIET]: { arguments: [repository, any] },
  'write comment': { arguments: [repository, any] },
  'edit comment': { arguments: [repository, any] },
  'remove comment': { arguments: [repository, any], leavesNoTrace: true },
  'open pull request': { arguments: [repository, labels] },
  'edit pull request': { arguments: [repository, any, labels] },
  'close pull request': { arguments: [repository, any] },
  'merge pull request': { arguments: [repository, any] },
  'push commit': { arguments: [repository, any] },
  'force push': { arguments: [repository, any] },
  'write review': { arguments: [repository, any] },
  /** Requests a review, or takes the request back. */
  'ask for review': { arguments: [repository, any, fc.nat(4)] },
  'start run': { arguments: [repository] },
  'finish run': { arguments: [repository, any, fc.nat(1)] },
  rerun: { arguments: [repository, any] },
  'remove run': { arguments: [repository, any], leavesNoTrace: true },
  'start job': { arguments: [repository, any] },
  'create deployment': { arguments: [repository] },
  'set deployment status': { arguments: [repository, any, fc.nat(STATES.length - 1)] },
  'remove deployment': { arguments: [repository, any], leavesNoTrace: true },
  'publish release': { arguments: [repository] },
  'edit release': { arguments: [repository, any] },
  'edit milestone': { arguments: [repository, any] },
} as const satisfies Record<string, VendorChange>

const chosen = (mask: number) => LABELS.filter((_, index) => mask & (1 << index))
/** The index of the record that a number picks. */
const among = (repository: Repository, kind: keyof Collections, number: number, where = (_item: any) => true) =>
  pick([...(repository[kind] as Iterable<Item>)].filter(where), number)?.index

type Apply = (fake: FakeGithub, repository: Repository, ...numbers: number[]) => void
const open = ({ state }: any) => state === 'open'
const unfinished = ({ status }: any) => status !== 'completed'

/** Edits one record of a kind with the values that `values` returns. */
const editing =
  (kind: keyof Collections, values: (item: any, number: number) => object): Apply =>
  (fake, repository, number = 0, given = 0) => {
    const index = among(repository, kind, number)
    if (index === undefined) return
    const item = repository[kind].get(index)
    fake.update({ repository: nameOf(repository), edit: kind, index, with: values(item, given) } as never)
  }
/** Adds one record of a kind, to one of its parents if the kind has parents. */
const adding =
  (kind: keyof Collections, parents?: keyof Collections, values: (number: number) => object = () => ({})): Apply =>
  (fake, repository, number = 0, given = 0) => {
    const parent = parents && among(repository, parents, number)
    if (parents && parent === undefined) return
    const added = values(parents ? given : number)
    fake.update({ repository: nameOf(repository), add: kind, ...(parents && { parent }), with: added } as never)
  }
const removing =
  (kind: keyof Collections): Apply =>
  (fake, repository, number = 0) => {
    const index = among(repository, kind, number)
    if (index !== undefined) fake.update({ repository: nameOf(repository), remove: kind, index })
  }
/** Makes one of the changes that are more than an edit. */
const whole =
  (name: string, kind: keyof Collections, where?: (item: any) => boolean): Apply =>
  (fake, repository, number = 0) => {
    const index = among(repository, kind, number, where)
    if (index !== undefined) fake.update({ repository: nameOf(repository), [name]: index } as never)
  }
const nameOf = ({ owner, name }: Repository) => `${owner}/${name}`

const APPLY: Record<keyof typeof CHANGES, Apply> = {
  'open issue': adding('issues', undefined, (mask) => ({ labels: chosen(mask) })),
  'edit issue': editing('issues', ({ title }, mask) => ({ title: `${title}!`, labels: chosen(mask) })),
  'assign issue': editing('issues', (_issue, number) => ({ assignees: number === 0 ? [] : [`user-${number}`] })),
  'close issue': whole('close', 'issues', open),
  'reopen issue': whole('reopen', 'issues', (issue) => !open(issue)),
  'remove issue': removing('issues'),
  [QUIET](fake, repository, number = 0) {
    const hasNone = ({ index }: Item) =>
      [...repository.comments.childrenOf(index), ...repository.events.childrenOf(index)].length === 0
    const index = among(repository, 'issues', number, hasNone)
    if (index !== undefined) fake.update({ repository: nameOf(repository), remove: 'issues', index })
  },
  'write comment': adding('comments', 'issues'),
  'edit comment': editing('comments', ({ body }) => ({ body: `${body}!` })),
  'remove comment': removing('comments'),
  'open pull request': adding('pullRequests', undefined, (mask) => ({ labels: chosen(mask) })),
  'edit pull request': editing('pullRequests', ({ title }, mask) => ({ title: `${title}!`, labels: chosen(mask) })),
  'close pull request': whole('close', 'pullRequests', open),
  'merge pull request': whole('merge', 'pullRequests', open),
  'push commit': adding('pullCommits', 'pullRequests'),
  'force push': whole('forcePush', 'pullRequests'),
  'write review': adding('reviews', 'pullRequests'),
  'ask for review': editing('pullRequests', (_pull, number) => ({
    requestedReviewers: number === 0 ? [] : [`user-${number}`],
  })),
  'start run': adding('runs'),
  'finish run'(fake, repository, number = 0, end = 0) {
    const index = among(repository, 'runs', number, unfinished)
    if (index === undefined) return
    const done = { status: 'completed', conclusion: ENDS[end] } as const
    const completedAt = new Date(fake.clock.now()).toISOString().replace(/\.\d+/, '')
    for (const job of repository.jobs.childrenOf(index)) {
      fake.update({
        repository: nameOf(repository),
        edit: 'jobs',
        index: job.index,
        with: { ...done, completedAt } as never,
      })
    }
    fake.update({ repository: nameOf(repository), edit: 'runs', index, with: done as never })
  },
  rerun: whole('rerun', 'runs'),
  'remove run': removing('runs'),
  'start job'(fake, repository, number = 0) {
    const parent = among(repository, 'runs', number, unfinished)
    if (parent !== undefined) fake.update({ repository: nameOf(repository), add: 'jobs', parent })
  },
  'create deployment': adding('deployments'),
  'set deployment status': adding('statuses', 'deployments', (number) => ({ state: STATES[number] })),
  'remove deployment': removing('deployments'),
  'publish release': adding('releases'),
  'edit release': editing('releases', ({ name }) => ({ name: `${name}!` })),
  'edit milestone': editing('milestones', ({ title }) => ({ title: `${title}!` })),
}

const noted = new WeakMap<Change, Item>()
function watch(fake: FakeGithub, change: Change, changed: Change[]): Item | undefined {
  const item = fake.update(change)
  if (item) noted.set(change, item)
  changed.push(change)
  return item
}

/** Returns the deliveries that GitHub sends about a change. It sends nothing useful about deletions. */
function tellings(fake: FakeGithub, name: string, change: Change, at: string): SentChange[] {
  const kind = kindOf(change)
  const index = noted.get(change)?.index ?? Object.values(change).find((value) => typeof value === 'number')
  if (!kind || index === undefined) return []
  const repository = fake.world.repository(name)
  const kinds: readonly (keyof Collections)[] =
    kind === 'ticket' ? [repository.pullRequests.get(index) ? 'pullRequests' : 'issues'] : [kind]
  return kinds.flatMap((each) => deliveryOf(fake, name, each, index, { at }) ?? [])
}

function kindOf(change: any): keyof Collections | 'ticket' | undefined {
  if ('rerun' in change) return 'runs'
  return (
    change.add ??
    change.edit ??
    (['close', 'reopen', 'merge', 'forcePush'].some((name) => name in change) ? 'ticket' : undefined)
  )
}

const vendor = (name: string, interfaces: readonly [Plugin, ...Plugin[]]): VendorUnderTest => ({
  name,
  interfaces,
  startDate: (now) => new Date(now - DAYS / 2),
  scopes: REPOSITORIES.map((fullName) => ({
    options: { fullName },
    row: {
      github_id: createWorld(WORLD).find(fullName)?.id,
      name: fullName.split('/')[1],
      full_name: fullName,
      html_url: `https://github.com/${fullName}`,
    },
  })),
  rules: [
    { issue_type_bug: 'bug', issue_type_incident: 'incident', deployment_pattern: '.*', env_name_pattern: '(?i)prod' },
    { issue_type_incident: 'bug', issue_component: 'component(.*)', deployment_pattern: '.*' },
    { issue_type_bug: 'bug', issue_text_incident: '[2-5]', production_branch_pattern: '^(main|release)$' },
    { pr_component: 'component(.*)', pr_body_close_pattern: '(?mi)(fix|close)[\\s]*.*(((and )?#\\d+[ ]*)+)' },
  ],
  lists: ['/issues', '/pulls', '/comments', '/commits', '/runs', '/jobs', '/deployments', 'pullRequests', '/users'],
  changes: Object.fromEntries(Object.entries(CHANGES).filter(([name]) => interfaces.length === 1 || name !== QUIET)),
  start: (now) =>
    behindFaults({
      async begin() {
        const [from, until] = [now() - DAYS, now()].map((time) => new Date(time).toISOString().replace(/\.\d+/, ''))
        const fake = await startFakeGithub({ world: { ...WORLD, ...(from && until && { from, until }) } })
        fake.clock.set(now())
        return fake
      },
      connection: (endpoint) => ({ endpoint, token: DEFAULT_TOKEN, auth_method: 'AccessToken' }),
      change(fake, change, [at, ...numbers], { url, send }) {
        fake.clock.set(now())
        const name = REPOSITORIES[at] as string
        const changed: Change[] = []
        const watched = { ...fake, update: (each: Change) => watch(fake, each, changed) }
        APPLY[change as keyof typeof CHANGES](watched, fake.world.repository(name), ...numbers)
        for (const each of changed.flatMap((one) => tellings(fake, name, one, url))) send(each)
      },
    }),
})

export const githubVendor = vendor('github', [github, githubGraphql])
/** GraphQL alone, so that changes that REST cannot see need not be left out. */
export const githubGraphqlVendor = vendor('github_graphql', [githubGraphql])
