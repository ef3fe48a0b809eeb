import { expect, test } from 'vitest'
import { domainId } from './ids.ts'

test('parts are joined as they are', () => {
  expect(domainId('jira:JiraAccount', 2, '557058:46121f43')).toBe('jira:JiraAccount:2:557058:46121f43')
  expect(domainId('github:GithubRun', 1, 134018330, 2559400712n)).toBe('github:GithubRun:1:134018330:2559400712')
  expect(domainId('webhook', 1)).toBe('webhook:1')
  expect(domainId('github:GithubAccount', 1, 0)).toBe('github:GithubAccount:1:0')
})

test('an unknown part makes the id unknown', () => {
  for (const part of [null, undefined, '']) expect(domainId('github:GithubAccount', 1, part)).toBeNull()
  expect(domainId(null, 'refs/tags/v1')).toBeNull()
})
