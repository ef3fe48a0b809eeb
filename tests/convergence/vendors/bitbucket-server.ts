import fc from 'fast-check'
import { bitbucketServer } from '../../../src/plugins/bitbucket-server/plugin.ts'
import { SERVER_CHANGES, type ServerChange, startFakeDataCenter, TOKEN } from '../../fake-bitbucket/data-center.ts'
import { behindFaults, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const REPOS = [
  ['WEB', 'shop'],
  ['WEB', 'api'],
  ['OPS', 'shop'],
] as const
const HOUR = 3_600_000
/** Changes that happen before a history begins. */
const BEFORE: readonly ServerChange[] = ['open', 'open', 'open', 'comment', 'reply', 'approve', 'merge', 'decline']

const CHANGES = Object.fromEntries(
  SERVER_CHANGES.map((name): [string, VendorChange] => [name, { arguments: [fc.nat(REPOS.length - 1), fc.nat(9)] }]),
)

export const bitbucketServerVendor: VendorUnderTest = {
  name: 'bitbucket_server',
  interfaces: [bitbucketServer],
  scopes: REPOS.map(([key, slug]) => {
    const id = `${key}/repos/${slug}`
    return { options: { fullName: id }, row: { bitbucket_id: id, name: slug, html_url: `https://example.com/${id}` } }
  }),
  rules: [{ pr_type: 'feat|fix' }, { pr_component: 'component/\\w+' }, {}],
  lists: ['/pull-requests', '/activities', '/commits'],
  startDate: (now) => new Date(now - 38 * HOUR),
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeDataCenter(REPOS)
        for (const repo of fake.repos) {
          for (const [index, name] of BEFORE.entries()) {
            fake.clock.set(now() - (40 - index) * HOUR)
            fake.change(name, repo, index)
          }
        }
        fake.clock.set(now())
        return fake
      },
      connection: (endpoint) => ({ endpoint, username: '', password: TOKEN }),
      change(fake, name, [at, number]) {
        fake.clock.set(now())
        const repo = fake.repos[at]
        if (repo) fake.change(name as ServerChange, repo, number)
      },
    }),
}
