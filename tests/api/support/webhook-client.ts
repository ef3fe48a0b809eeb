/** Messages as tools send them, and a client that sends them. */

import { expect } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { anyTable } from '../../support/any-table.ts'
import type { TestApi } from './test-api.ts'

export const DONE = { code: 0, success: true, message: 'success', causes: null, data: null }
export const FAILED = { code: 0, success: false, causes: null, data: null, message: expect.any(String) }
export const REFUSED = { success: false, message: expect.any(String) }
export const BASE = '/plugins/webhook'
export const SHA = 'e4d7a1c0ffee00000000000000000000000000aa'
export const URL = 'https://example.org/acme/shop'

/** One clock for all messages, so that the time between two moments is always whole minutes. */
const NOW = Date.now()
const minutesAgo = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString()
export const deployment = (id: string, changes: object = {}) => ({
  id,
  startedDate: minutesAgo(70),
  finishedDate: minutesAgo(60),
  deploymentCommits: [
    { repoUrl: URL, commitSha: SHA, startedDate: minutesAgo(70), finishedDate: minutesAgo(60), refName: 'main' },
  ],
  ...changes,
})
export const issue = (issueKey: string, changes: object = {}) => ({
  issueKey,
  title: `Issue ${issueKey}`,
  status: 'TODO',
  originalStatus: 'created',
  createdDate: minutesAgo(45),
  ...changes,
})
export const pullRequest = (pullRequestKey: number, changes: object = {}) => ({
  id: `pr-${pullRequestKey}`,
  pullRequestKey,
  displayTitle: 'Faster search',
  createdDate: minutesAgo(90),
  ...changes,
})

/** `api` may be started after this client is made. */
export function webhookClient(api: () => TestApi, database: () => Database) {
  async function connect(name: string): Promise<any> {
    const { status, body } = await api().ask('POST', `${BASE}/connections`, { name })
    expect(status).toBe(200)
    return body
  }
  async function rowsOf(table: string, where: Record<string, unknown>): Promise<any[]> {
    const all = anyTable(database().kysely).selectFrom(table).selectAll()
    const narrowed = Object.entries(where).reduce((query, [column, value]) => query.where(column, '=', value), all)
    const keyOf = (row: any) => row.id ?? row.issue_id ?? row.incident_id
    return (await narrowed.execute()).sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  }
  const countOf = async (table: string) => (await rowsOf(table, {})).length
  async function expectDone(url: string, body?: unknown) {
    expect(await api().ask('POST', url, body), url).toMatchObject({ status: 200, body: DONE })
  }
  return { connect, rowsOf, countOf, expectDone }
}
