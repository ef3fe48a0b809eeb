/** Wrong settings by users, and data that the vendor has lost: each case has a defined outcome. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import type { Subtask } from '../../src/plugin-kit/spec/subtask.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import { prepareRules } from '../../src/plugins/github/rules.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { connect, differences, domainRows, NAME, plugins, receiptOf, runGithub } from './support/github.ts'

describeOneWithTables('bad input', (test) => {
  const start = useFake(test)

  it.each(plugins)(
    'a repository that was deleted between two runs fails $name and keeps what is stored',
    async (plugin) => {
      const fake = await start()
      await runGithub(test.database, plugin)
      const before = await domainRows(test.database)
      fake.update({ repository: NAME, delete: true })
      const events = ({ name }: Subtask) => name === 'Collect Events'
      await expect(runGithub(test.database, plugin, { only: events })).rejects.toThrow(
        /repos\/acme\/web answers 404: the repository is gone/,
      )
      expect(await receiptOf(test.database, 'github_api_events')).toMatchObject({ status: 'failed' })
      expect((await receiptOf(test.database, 'github_api_events'))?.last_success_at).not.toBeNull()
      expect(await domainRows(test.database)).toEqual(before)
    },
  )

  it.each(plugins)('a repository that is archived is read by $name as any other', async (plugin) => {
    const fake = await start({ ...SMALL, archived: true })
    await runGithub(test.database, plugin, { only: ({ name, isDefault }) => isDefault || name.endsWith('Commits') })
    expect(await differences(test.database, fake.world.repository(NAME))).toEqual({})
  })

  it('issues that are switched off keep what is stored, and a gap says why', async () => {
    const fake = await start()
    await runGithub(test.database, github)
    const before = await domainRows(test.database)
    fake.update({ repository: NAME, hasIssues: false })
    const results = await runGithub(test.database, github, { fullSync: true })
    const { issues, issue_comments } = await domainRows(test.database)
    expect({ issues, issue_comments }).toEqual({ issues: before.issues, issue_comments: before.issue_comments })
    expect(results['Collect Issues']?.remarks).toEqual([expect.stringMatching(/answers 410: it was switched off/)])
  })

  it('a token with too few rights is told what it lacks, and not tried again', async () => {
    const tokens = [{ token: 'github_pat_few', permissions: { metadata: 'read', issues: 'read' } }]
    const fake = await start(SMALL, { tokens }, { token: 'github_pat_few' })
    const pulls = ({ name }: Subtask) => name === 'Collect Pull Requests'
    const { 'Collect Pull Requests': refused } = await runGithub(test.database, github, { only: pulls })
    const says = /Connection "fake".*forbidden.*pull_requests=read.*Check the permissions/
    expect(refused).toMatchObject({ list: 'lost', remarks: [expect.stringMatching(says)] })
    // It asks for the list, and whether the repository itself is visible.
    expect(fake.requests.entries.map(({ url }) => url.split('?')[0])).toEqual([
      '/repos/acme/web/pulls',
      '/repos/acme/web',
    ])
  })

  describe('an endpoint that is no GitHub', () => {
    const answers = {
      'a web page': {
        type: 'text/html',
        body: '<html><h1>Welcome</h1></html>',
        says: /web page instead of JSON. Check the endpoint/,
      },
      'another JSON': {
        type: 'application/json',
        body: '{"hello":"world"}',
        says: /does not say how much there is. Check that the endpoint/,
      },
    }
    it.each(Object.entries(answers))('but answers with %s is named', async (_name, { type, body, says }) => {
      const server = createServer((_request, response) => response.setHeader('content-type', type).end(body))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        await connect(test.database, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
        const runs = ({ name }: Subtask) => name === 'Collect Workflow Runs'
        await expect(runGithub(test.database, github, { only: runs })).rejects.toThrow(says)
      } finally {
        server.close()
      }
    })
  })

  it.each(plugins)('people and forks that are gone leave their records in place, by $name', async (plugin) => {
    const fake = await start()
    const { pullRequests, issues } = fake.world.repository(NAME)
    const [pull] = [...pullRequests]
    const [issue] = [...issues]
    const change = { repository: NAME }
    fake.update({ ...change, edit: 'pullRequests', index: pull!.index, with: { author: null, headRepository: null } })
    fake.update({ ...change, edit: 'issues', index: issue!.index, with: { author: null, assignees: [] } })
    const results = await runGithub(test.database, plugin)
    expect(Object.values(results).filter(({ quarantined }) => quarantined > 0)).toEqual([])
    const rows = await domainRows(test.database)
    const pullRow = rows.pull_requests
      ?.map((row) => JSON.parse(row))
      .find((row) => row.pull_request_key === pull!.number)
    expect(pullRow).toMatchObject({ author_name: '' })
    expect(
      rows.issues?.map((row) => JSON.parse(row)).filter((row) => row.issue_key === String(issue!.number)),
    ).toHaveLength(1)
  })
})

describe('a pattern that does not compile', () => {
  it.each([
    ['deploymentPattern', 'deploy(', 7],
    ['issueTypeBug', 'bug|[a-', 5],
    ['prBodyClosePattern', '(fix|close))', 12],
  ])('in %s is refused with its position', (field, pattern, position) => {
    expect(() => prepareRules({ [field]: pattern })).toThrow(UserError)
    expect(() => prepareRules({ [field]: pattern })).toThrow(`${field}: the pattern ${JSON.stringify(pattern)}`)
    expect(() => prepareRules({ [field]: pattern })).toThrow(`at character ${position}`)
  })
})
