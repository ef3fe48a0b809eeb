/** GraphQL answers with the data that it has, and says which parts are missing. */
import { expect, it } from 'vitest'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { useFake } from './support/fake.ts'
import { receiptOf, runGithub, storedIds } from './support/github.ts'

const only = ({ name }: { name: string }) => /^(Collect|Extract) Pull Requests$/.test(name)

describeOneWithTables('over GraphQL', (test) => {
  const start = useFake(test)

  it.each([
    { type: 'FORBIDDEN', saml: true },
    { type: 'FORBIDDEN', saml: false },
    { type: 'NOT_FOUND', saml: false },
  ])(
    'an error at one part of a node ($type, $saml) leaves the node and the list; the receipt tells',
    async (details) => {
      const fake = await start()
      fake.failNext('lost-part', { ...details, field: 'headRepository', operation: 'pullRequests' })
      await runGithub(test.database, githubGraphql, { only })
      expect((await storedIds(test.database)).pullRequests).toHaveLength(20)
      const receipt = await receiptOf(test.database, 'github_graphql_prs')
      expect(receipt).toMatchObject({ status: 'gap', stored: 20 })
      expect(receipt?.message).toContain('repository.pullRequests.nodes.1.headRepository')
    },
  )

  it('a secondary limit with status 200 is waited for', async () => {
    const fake = await start()
    fake.failNext('secondary-limit', { status: 200, retryAfterSeconds: 0, operation: 'pullRequests' })
    await runGithub(test.database, githubGraphql, { only })
    expect((await storedIds(test.database)).pullRequests).toHaveLength(20)
    expect(fake.requests.counts().faults).toBe(1)
  })
})
