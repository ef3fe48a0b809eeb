/** Everything that GitHub knows arrives over both interfaces, and no person is invented. */
import { expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { NAME, plugins, runGithub } from './support/github.ts'

const BOT = 'dependabot[bot]'

describeOneWithTables('GitHub in true numbers', (test) => {
  const start = useFake(test)
  const rowsOf = (table: string): Promise<any[]> => test.database.kysely.selectFrom(table).selectAll().execute()
  /** Each test below looks at one run of one interface. There are two interfaces. */
  const collected = async (plugin: (typeof plugins)[number]) => {
    const fake = await start({ ...SMALL, issues: 40, pullRequests: 40, releases: 12, commentsPerIssue: 2 })
    fake.failNext('gone', { path: `/users/${encodeURIComponent(BOT)}`, status: 404, times: 5 })
    await runGithub(test.database, plugin)
    return fake.world.repository(NAME)
  }

  it.each(plugins)('$name names nobody as the author of what a deleted account wrote', async (plugin) => {
    const repository = await collected(plugin)
    const orphans = new Set([...repository.comments].filter(({ author }) => author === null).map(({ id }) => id))
    expect(orphans.size).toBeGreaterThan(1)
    const comments = [...(await rowsOf('issue_comments')), ...(await rowsOf('pull_request_comments'))]
    const ofNobody = comments.filter(({ id }) => orphans.has(Number(id.split(':').at(-1))))
    expect(ofNobody).toHaveLength(orphans.size)
    expect(ofNobody.filter(({ account_id }) => account_id)).toEqual([])
    const named = [
      ...comments.map(({ account_id }) => account_id),
      ...(await rowsOf('pull_requests')).flatMap(({ author_id, merged_by_id }) => [author_id, merged_by_id]),
      ...(await rowsOf('issues')).flatMap(({ creator_id, assignee_id }) => [creator_id, assignee_id]),
      ...(await rowsOf('cicd_releases')).map(({ author_id }) => author_id),
    ]
    expect(named.filter((id) => id && /:0?$/.test(id))).toEqual([])
  })

  it.each(plugins)('$name gives an account to everyone who was seen, also without a profile', async (plugin) => {
    await collected(plugin)
    const accounts = await rowsOf('accounts')
    const profiles = new Set((await rowsOf('_tool_github_accounts')).map(({ login }) => login))
    expect(profiles.has(BOT)).toBe(false)
    expect(accounts.filter(({ user_name }) => user_name === BOT)).toMatchObject([{ full_name: '', email: '' }])
    const known = new Set(accounts.map(({ id }) => id))
    const seen = await rowsOf('_tool_github_repo_accounts')
    expect(seen.filter(({ account_id }) => !known.has(`github:GithubAccount:1:${account_id}`))).toEqual([])
    expect(accounts).toHaveLength(new Set(seen.map(({ account_id }) => account_id)).size)
    const releases = await rowsOf('cicd_releases')
    expect(releases.filter(({ author_id }) => !known.has(author_id))).toEqual([])
    // A person who is no longer seen loses the account.
    await test.database.kysely.deleteFrom('_tool_github_repo_accounts').where('login', '=', BOT).execute()
    await runGithub(test.database, plugin, { only: ({ name }) => name === 'Convert Users' })
    expect((await rowsOf('accounts')).map(({ user_name }) => user_name)).not.toContain(BOT)
  })

  it.each(plugins)('$name knows the commit of a release, and its text as the page shows it', async (plugin) => {
    const repository = await collected(plugin)
    const byTag = new Map([...repository.releases].map((release) => [release.tag, release]))
    const [tool, domain] = [await rowsOf('_tool_github_releases'), await rowsOf('cicd_releases')]
    expect(tool).toHaveLength(12)
    for (const { tag_name, commit_sha, description_html, author_name } of tool) {
      const made = byTag.get(tag_name)
      expect(commit_sha).toBe(made?.isDraft ? '' : made?.sha)
      expect(description_html !== '').toBe(Boolean(made?.body))
      expect(author_name).toBe(made?.author)
    }
    expect(tool.some(({ author_name }) => author_name.endsWith('[bot]'))).toBe(true)
    expect(domain.length).toBeGreaterThan(5)
    for (const { tag_name, commit_sha } of domain) expect(commit_sha).toBe(byTag.get(tag_name)?.sha)
  })

  it.each(plugins)('$name knows the author of every commit whose author GitHub knows', async (plugin) => {
    const repository = await collected(plugin)
    const authors = new Map([...repository.pullCommits].map(({ sha, author }) => [sha, author]))
    const seen = new Map((await rowsOf('_tool_github_repo_accounts')).map((row) => [Number(row.account_id), row.login]))
    const commits = (await rowsOf('_tool_github_commits')).filter(({ sha }) => authors.has(sha))
    expect(commits).toHaveLength(authors.size)
    for (const { sha, author_id } of commits) expect(seen.get(Number(author_id)) ?? null).toBe(authors.get(sha))
    expect([...authors.values()].filter((login) => login?.endsWith('[bot]')).length).toBeGreaterThan(2)
    expect([...authors.values()]).toContain(null)
  })
})
