import { expect, it } from 'vitest'
import { UserError } from '../../errors.ts'
import { issueRules } from './rules.ts'

it('maps types by name and statuses by category, and leaves the rest to defaults', () => {
  const rules = issueRules({
    typeMappings: {
      Bug: { standardType: 'Incident', statusMappings: { done: { standardStatus: 'CLOSED' } } },
      Story: { standardType: '' },
    },
  })
  expect(['Bug', 'Story', 'Task'].map(rules.standardType)).toEqual(['INCIDENT', 'STORY', 'TASK'])
  // An issue that Jira itself calls an incident is one, even below another issue.
  expect(['Bug', 'Story', 'Task', 'Incident'].map(rules.isMapped)).toEqual([true, false, false, true])
  expect(rules.standardStatus('Bug', 'done')).toBe('CLOSED')
  expect(['new', 'indeterminate', 'done', ''].map((category) => rules.standardStatus('Task', category))).toEqual([
    'TODO',
    'IN_PROGRESS',
    'DONE',
    'IN_PROGRESS',
  ])
})

it('finds commits by the pattern for the sha first, then by patterns for repositories', () => {
  const regex = 'https://git.example/(?P<namespace>\\S+)/(?P<repo_name>\\S+)/commit/(?P<commit_sha>\\w{40})'
  const sha = 'a'.repeat(40)
  const url = `https://git.example/one/two/three/commit/${sha}`
  expect(issueRules({}).commitShaIn(url)).toBeUndefined()
  expect(issueRules({ remotelinkCommitShaPattern: 'commit/(.{7})' }).commitShaIn(url)).toBe('aaaaaaa')
  const rules = issueRules({ remotelinkRepoPattern: [{ regex: 'git/(.*)' }, { regex: '' }, { regex }] })
  expect(rules.commitShaIn(url)).toBe(sha)
  expect(rules.repoCommitOf(url)).toEqual({ namespace: 'one/two', repo_name: 'three', commit_sha: sha })
  expect(rules.commitShaIn('https://git.example/one')).toBeUndefined()
})

it('refuses a pattern that does not compile', () => {
  expect(() => issueRules({ remotelinkRepoPattern: [{ regex: '(' }] })).toThrow(UserError)
})
