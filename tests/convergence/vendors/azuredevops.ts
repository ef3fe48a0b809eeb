import fc from 'fast-check'
import { azuredevops } from '../../../src/plugins/azuredevops-go/plugin.ts'
import { BOARD, repositoryRow } from '../../azuredevops/support.ts'
import { type FakeAzureDevops, startFakeAzureDevops, TOKEN } from '../../fake-azuredevops/fake-azuredevops.ts'
import { createWorld, ORGANIZATION } from '../../fake-azuredevops/world.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const ENDS = ['succeeded', 'failed', 'canceled']
const STATES = ['New', 'Active', 'Shipped', 'Removed']
const TYPES = ['User Story', 'Bug', 'Task']
const VOTES = [10, 5, -5, -10]

const any = fc.nat(9)
const end = fc.nat(ENDS.length - 1)

const CHANGES = {
  'open pull request': { arguments: [any] },
  'edit pull request': { arguments: [any] },
  say: { arguments: [any, any] },
  vote: { arguments: [any, any] },
  push: { arguments: [any, fc.boolean()] },
  complete: { arguments: [any] },
  abandon: { arguments: [any] },
  reactivate: { arguments: [any] },
  'queue build': { arguments: [any] },
  'finish build': { arguments: [any, end] },
  'rerun build': { arguments: [any] },
  deploy: { arguments: [any, any] },
  'finish deployment': { arguments: [any, end] },
  release: { arguments: [any] },
  'finish release': { arguments: [any, end] },
  'add work item': { arguments: [any] },
  'edit work item': { arguments: [any, any] },
  'delete work item': { arguments: [any] },
  'set parent': { arguments: [any, any] },
  'add iteration': { arguments: [] },
  // Builds are listed newest first, down to those that are known, so a deletion is not seen.
  'delete build': { arguments: [any], leavesNoTrace: true },
} as const satisfies Record<string, VendorChange>

const openIn = ({ pullRequests }: FakeAzureDevops) => pullRequests.filter(({ status }) => status === 'active')
const runningIn = ({ builds }: FakeAzureDevops) => builds.filter(({ status }) => status === 'inProgress')
const itemsIn = ({ workItems }: FakeAzureDevops) => workItems.filter(({ fields }) => !fields['System.IsDeleted'])

const APPLY: Record<keyof typeof CHANGES, (fake: FakeAzureDevops, ...parameters: any[]) => void> = {
  'open pull request': (fake, at) => void fake.openPullRequest(at),
  'edit pull request'(fake, number) {
    const found = pick(fake.pullRequests, number)
    if (found) Object.assign(found, { title: `${found.title}!`, labels: number % 2 ? [{ name: 'urgent' }] : [] })
  },
  say(fake, number, who) {
    const found = pick(openIn(fake), number)
    if (found) fake.say(found, who)
  },
  vote(fake, number, who) {
    const found = pick(openIn(fake), number)
    if (found) fake.vote(found, who, pick(VOTES, who) as number)
  },
  push(fake, number, isForced) {
    const found = pick(openIn(fake), number)
    if (found) fake[isForced ? 'forcePush' : 'push'](found)
  },
  complete(fake, number) {
    const found = pick(openIn(fake), number)
    if (found) fake.close(found, 'completed')
  },
  abandon(fake, number) {
    const found = pick(openIn(fake), number)
    if (found) fake.close(found, 'abandoned')
  },
  reactivate(fake, number) {
    const abandoned = fake.pullRequests.filter(({ status }) => status === 'abandoned')
    const found = pick(abandoned, number)
    if (found) fake.reactivate(found)
  },
  'queue build': (fake, at) => void fake.queueBuild(at),
  'finish build'(fake, number, at) {
    const found = pick(runningIn(fake), number)
    if (found) fake.finishBuild(found, ENDS[at] as string)
  },
  'rerun build'(fake, number) {
    const found = pick(
      fake.builds.filter(({ status }) => status === 'completed'),
      number,
    )
    if (found) fake.rerunBuild(found)
  },
  deploy(fake, number, at) {
    const found = pick(fake.builds, number)
    if (found) fake.deploy(found, at)
  },
  'finish deployment'(fake, number, at) {
    const found = pick(
      fake.environmentRecords.filter(({ result }) => !result),
      number,
    )
    if (found) fake.finishDeployment(found, ENDS[at] as string)
  },
  release(fake, number) {
    const found = pick(fake.builds, number)
    if (found) fake.release(found, number % 2 ? 'Production' : 'QA')
  },
  'finish release'(fake, number, at) {
    const found = pick(fake.deployments, number)
    if (found) fake.finishRelease(found, ENDS[at] as string)
  },
  'add work item'(fake, number) {
    const iteration = pick(fake.iterations, number)
    fake.addWorkItem(pick(TYPES, number) as string, {
      'System.IterationId': iteration?.id ?? 1,
      'System.Tags': number % 2 ? 'web; urgent' : '',
      'System.AssignedTo': fake.person(number),
    })
  },
  'edit work item'(fake, number, at) {
    const found = pick(itemsIn(fake), number)
    if (!found) return
    fake.changeWorkItem(found, { 'System.State': pick(STATES, at), 'System.Tags': at % 2 ? 'web' : 'api' })
  },
  'delete work item'(fake, number) {
    const found = pick(itemsIn(fake), number)
    if (found) fake.changeWorkItem(found, { 'System.IsDeleted': true })
  },
  'set parent'(fake, number, at) {
    const [child, parent] = [pick(itemsIn(fake), number), pick(itemsIn(fake), at)]
    if (child) fake.setParent(child, parent === child ? undefined : parent)
  },
  'add iteration': (fake) =>
    void fake.addIteration(`Sprint ${fake.iterations.length}`, '2024-01-01T00:00:00Z', '2024-01-14T00:00:00Z'),
  'delete build'(fake, number) {
    const found = pick(fake.builds, number)
    if (found) fake.builds.splice(fake.builds.indexOf(found), 1)
  },
}

const [web, api] = createWorld().repositories.map(repositoryRow)
export const azuredevopsVendor: VendorUnderTest = {
  name: 'azuredevops_go',
  interfaces: [azuredevops],
  scopes: [web, BOARD, api].flatMap((row) => (row ? { options: { repositoryId: row.id }, row } : [])),
  rules: [
    { deployment_pattern: 'deploy', env_name_pattern: '(?i)prod', issue_type_bug: 'Bug' },
    { deployment_pattern: 'build', issue_type_requirement: 'Story', issue_type_bug: 'urgent' },
    { production_branch_pattern: '^main$', issue_type_bug: 'Bug', issue_text_incident: '[2-5]' },
  ],
  lists: [
    '/pullrequests',
    '/threads',
    '/commits',
    '/build/builds',
    '/timeline',
    '/environments',
    '/deployments',
    '/wit/',
  ],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeAzureDevops()
        fake.now = () => new Date(now())
        for (let number = 0; number < 4; number++) {
          APPLY['open pull request'](fake, number)
          APPLY['queue build'](fake, number)
        }
        APPLY['add iteration'](fake)
        for (let number = 0; number < 4; number++) APPLY['add work item'](fake, number)
        APPLY['set parent'](fake, 0, 1)
        APPLY.complete(fake, 0)
        APPLY['finish build'](fake, 1, 0)
        APPLY.deploy(fake, 1, 1)
        APPLY.release(fake, 1)
        return fake
      },
      connection: (endpoint) => ({ endpoint, organization: ORGANIZATION, token: TOKEN }),
      change: (fake, name, parameters) => APPLY[name as keyof typeof CHANGES](fake, ...parameters),
    }),
}
