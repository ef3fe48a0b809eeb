/** Fills databases that no vendor of the convergence suite fills: by messages to a webhook, and by a git history alone. */
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/domain/code.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { startTestApi } from '../api/support/test-api.ts'
import { collect, freshData, REPO } from '../gitextractor/support/collect.ts'
import { makeRepository } from '../gitextractor/support/repository.ts'
import { calculate } from '../metrics/calculate.ts'

const PROJECT = 'shop'
const at = (day: number) => `2024-03-${String(day).padStart(2, '0')}T10:00:00Z`
const PEOPLE = { creatorId: 'u1', creatorName: 'Ann', assigneeId: 'u2', assigneeName: 'Ben' }

const deployment = (day: number) => ({
  id: `rollout ${day}`,
  startedDate: at(day),
  finishedDate: at(day),
  deploymentCommits: [
    {
      repoUrl: 'https://code.example/shop',
      commitSha: `${day % 10}`.repeat(40),
      refName: 'main',
      startedDate: at(day),
      finishedDate: at(day),
    },
  ],
})
const issue = (key: string, more: object = {}) => ({
  issueKey: key,
  title: key,
  status: 'DONE',
  originalStatus: 'done',
  type: 'INCIDENT',
  createdDate: at(5),
  resolutionDate: at(6),
  ...PEOPLE,
  ...more,
})
const pullRequest = (key: number, more: object = {}) => ({
  pullRequestKey: key,
  id: `${key}`,
  displayTitle: `Change ${key}`,
  createdDate: at(2),
  status: 'MERGED',
  mergedDate: at(3),
  mergeCommitSha: '4'.repeat(40),
  authorId: 'u1',
  authorName: 'Ann',
  mergedById: 'u2',
  headRepoId: 'fork',
  baseRepoId: 'shop',
  ...more,
})

/** Sends everything that a webhook accepts, with all possible ids. */
export async function tellWebhook(database: Database): Promise<void> {
  const api = await startTestApi(database)
  try {
    const { body } = await api.ask('POST', '/plugins/webhook/connections', { name: 'hook' })
    const send = async (what: string, message: object) => {
      const { status, text } = await api.ask('POST', `/plugins/webhook/connections/${body.id}/${what}`, message)
      if (status !== 200) throw new Error(`${what}: ${status} ${text}`)
    }
    for (const day of [1, 4]) await send('deployments', deployment(day))
    await send('issues', issue('K-1'))
    await send('issues', issue('K-2', { parentIssueKey: 'K-1', type: 'BUG' }))
    await send('pull_requests', pullRequest(1))
    await send('pull_requests', pullRequest(2, { parentPrId: '1' }))
    await calculateAll(database)
  } finally {
    await api.close()
  }
}

/** Calculates one project with all scopes. */
async function calculateAll(database: Database): Promise<void> {
  for (const table of ['repos', 'boards', 'cicd_scopes']) {
    const { rows } = await sql<{ id: string }>`select id from ${sql.table(table)}`.execute(database.kysely)
    await write(
      database,
      rows.map(({ id }) => projectMapping.row({ project_name: PROJECT, table, row_id: id })),
    )
  }
  await calculate(database, PROJECT)
}

/** Reads the history of a repository that a code host has reported: commits, files, a branch and a tag. */
export async function readHistory(database: Database): Promise<void> {
  const repository = makeRepository()
  for (const name of ['one', 'two']) {
    repository.write(`${name}.txt`, name)
    repository.commit(name)
  }
  repository.git(['tag', 'v1'])
  freshData()
  await write(database, [repos.row({ id: REPO, name: 'web', url: 'https://code.example/web' })])
  await collect(database, { url: repository.folder })
}
