import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { plugins } from '../../src/plugins/index.ts'
import { leasesOfScope } from '../../src/runner/task-leases.ts'
import { realControl } from '../pipelines/support/real-control.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { clear, collect, freshData, REPO, stored } from './support/collect.ts'
import { makeRepository, type Repository } from './support/repository.ts'

const FORK = 'github:GithubRepo:1:8'
const clonesIn = (data: string) => readdirSync(join(data, 'git')).filter((name) => name !== 'known_hosts')

describeEachWithTables('a repository that is forgotten', (test) => {
  let data: string
  let repository: Repository
  let fork: Repository
  const collectFork = () => collect(test.database, { url: fork.folder, repoId: FORK, skipCommitFiles: false })
  const collectOwn = () => collect(test.database, { url: repository.folder, skipCommitFiles: false })
  const forget = async (rowId: string) => {
    for (const plugin of plugins) await plugin.forget?.(test.database, { table: 'repos', rowId })
  }
  const put = (table: string, row: Record<string, unknown>) =>
    test.database.kysely.insertInto(table).values(row).execute()

  /** Three commits are in both. Two are in the repository alone, one of them by another author. */
  beforeEach(async () => {
    await clear(test.database)
    for (const table of ['pull_request_commits', 'commits_diffs', 'ref_commits', '_tool_github_repos']) {
      await test.database.kysely.deleteFrom(table).execute()
    }
    data = freshData()
    repository = makeRepository()
    for (const number of [1, 2, 3]) {
      repository.write(`file-${number}.txt`, 'text\n')
      repository.commit(`shared ${number}`)
    }
    fork = makeRepository()
    fork.git(['fetch', '--quiet', repository.folder, 'main:kept'])
    repository.write('own.txt', 'text\n')
    repository.commit('own 1')
    repository.git(['commit', '--quiet', '--allow-empty', '--author=Eve <eve@example.com>', '-m', 'own 2'])
    repository.git(['tag', 'v1'])
  })

  it('leaves what its fork holds as if there had never been another', async () => {
    await collectFork()
    const expected = await stored(test.database)
    expect(expected.commit_files).toHaveLength(3)
    await collectOwn()
    expect((await stored(test.database)).commits).toHaveLength(5)
    const sha = repository.git(['rev-parse', 'HEAD']).trim()
    const shared = repository.git(['rev-parse', 'HEAD~2']).trim()
    await put('commits_diffs', { new_commit_sha: sha, old_commit_sha: shared, commit_sha: sha, sorting_index: 1 })
    await put('ref_commits', { new_ref_id: `${REPO}:refs/tags/v1`, old_ref_id: `${REPO}:main` })
    await forget(REPO)
    expect(await stored(test.database)).toEqual(expected)
    for (const table of ['commits_diffs', 'ref_commits']) {
      expect(await test.database.kysely.selectFrom(table).selectAll().execute()).toEqual([])
    }
    expect(clonesIn(data)).toHaveLength(1)
    const states = await sql<{ params: string }>`select params from _devlake_subtask_states`.execute(
      test.database.kysely,
    )
    expect(states.rows).toEqual([{ params: FORK }])
    await forget(FORK)
    for (const [table, rows] of Object.entries(await stored(test.database))) expect(rows, table).toEqual([])
    expect(clonesIn(data)).toEqual([])
  })

  it('leaves commits that a pull request of another one names', async () => {
    await collectOwn()
    const sha = repository.git(['rev-parse', 'HEAD']).trim()
    await put('pull_request_commits', { pull_request_id: 'github:GithubPullRequest:1:99', commit_sha: sha })
    await forget(REPO)
    const { commits, repo_commits, accounts } = await stored(test.database)
    expect(commits?.map((row) => row.sha)).toEqual([sha])
    expect(repo_commits).toEqual([])
    expect(accounts?.map((row) => row.id)).toContain('eve@example.com')
  })

  it('is one whose scope is deleted, and is collected from its beginning when it comes back', async () => {
    const control = realControl(test.database)
    const scope = { connection_id: 1, github_id: 7, full_name: 'acme/web' }
    await put('_tool_github_repos', { ...scope, created_at: new Date(), updated_at: new Date() })
    await collectOwn()
    const before = await stored(test.database)
    const github = plugins.find(({ name }) => name === 'github')
    expect(leasesOfScope(plugins, github!.source!, 1, scope)).toContain(`repository ${REPO}`)
    await control.services.scopes.remove('github', 1, '7')
    for (const [table, rows] of Object.entries(await stored(test.database))) expect(rows, table).toEqual([])
    expect(clonesIn(data)).toEqual([])
    await collectOwn()
    expect(await stored(test.database)).toEqual(before)
  })
})
