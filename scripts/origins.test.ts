import { expect, it } from 'vitest'
import { domainTables } from '../src/domain/index.ts'
import { plugins } from '../src/plugins/index.ts'
import { allOrigins } from './render-origins.ts'

const originOf = (plugin: string, table: string, column: string) => {
  const found = allOrigins().find((each) => each.plugin.name === plugin)
  return [...(found?.origins.get(table)?.get(column)?.from ?? [])].sort()
}

it('asks every converter until it has written each of its domain tables', () => {
  expect(allOrigins().flatMap(({ plugin, unseen }) => unseen.map((each) => `${plugin.name} ${each}`))).toEqual([])
  const converting = plugins.filter(({ source, pushSource }) => (source && !source.settingsOf) || pushSource)
  expect(allOrigins().map(({ plugin }) => plugin)).toEqual(converting)
})

it('knows an origin for every cell that a converter fills', () => {
  for (const { plugin, origins } of allOrigins()) {
    for (const [table, columns] of origins) {
      const known = domainTables.find(({ name }) => name === table)
      for (const [column, { from, literals }] of columns) {
        const place = `${plugin.name} ${table}.${column}`
        expect(known?.names, place).toContain(column)
        expect(from.size + literals.size, place).toBeGreaterThan(0)
        // More than one would mean that the value varies for a reason that was not found.
        expect(literals.size, `${place}: ${[...literals].join()}`).toBeLessThanOrEqual(1)
      }
    }
  }
})

it('follows copies, ids, words, arithmetic, joins, lookups and rules', () => {
  expect(originOf('github', 'pull_requests', 'title')).toEqual(['pull_requests.title'])
  expect(originOf('github', 'pull_requests', 'author_id')).toEqual(['pull_requests.author_id'])
  expect(originOf('github', 'pull_requests', 'status')).toEqual(
    expect.arrayContaining(['pull_requests.merged_at', 'pull_requests.state']),
  )
  expect(originOf('github', 'pull_requests', 'additions')).toEqual([
    'pull_request_details.additions',
    'pull_requests.additions',
  ])
  expect(originOf('github', 'cicd_tasks', 'duration_sec')).toEqual(['jobs.completed_at', 'jobs.started_at'])
  expect(originOf('github', 'cicd_deployments', 'environment')).toEqual(['deployments.environment', 'scope config'])
  expect(originOf('github', 'accounts', 'organization')).toEqual(['account_orgs.org_login'])
  expect(originOf('circleci', 'cicd_pipeline_commits', 'branch')).toEqual(['pipelines.vcs'])
  expect(originOf('webhook', 'board_issues', 'board_id')).toEqual(['connection'])
  const reviews = allOrigins()
    .find(({ plugin }) => plugin.name === 'github')
    ?.origins.get('pull_request_comments')
  expect([...(reviews?.get('type')?.literals ?? [])]).toEqual(['REVIEW'])
})
