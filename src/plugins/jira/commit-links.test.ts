import { expect, it } from 'vitest'
import { findGroups } from '../../plugin-kit/spec/patterns.ts'
import { commitRegex, commitsIn as commitsOf } from './commit-links.ts'

const commitsIn = (regex: string, urls: readonly string[]) => commitsOf(findGroups(regex, 'regex', urls))

const SHA = '0123456789abcdef0123456789abcdef01234567'
const found = { namespace: 'group/sub', repo_name: 'shop', commit_sha: SHA }
const nothing = { namespace: '', repo_name: '', commit_sha: '' }

it('makes a regular expression of an address with placeholders', () => {
  const regex = commitRegex('https://git.example/{namespace}/{repo_name}/-/commit/{commit_sha}?tab=files')
  expect(regex).toBe(
    'https://git\\.example/(?P<namespace>\\S+)/(?P<repo_name>\\S+)/-/commit/(?P<commit_sha>\\w{40})\\?tab=files',
  )
  const urls = [`https://git.example/group/sub/shop/-/commit/${SHA}?tab=files`, 'https://git.example/group', '']
  expect(commitsIn(regex, urls)).toEqual([found, nothing, nothing])
})

it('takes the placeholders in any order', () => {
  const regex = commitRegex('https://git.example/{commit_sha}/{repo_name}/of/{namespace}')
  expect(commitsIn(regex, [`https://git.example/${SHA}/shop/of/group/sub`])).toEqual([found])
})

it('understands groups without names by their order', () => {
  expect(commitsIn('//[^/]+/(.+)/(.+)/commit/(\\w+)', [`https://git.example/group/sub/shop/commit/${SHA}`])).toEqual([
    found,
  ])
})

it('says what is missing', () => {
  expect(() => commitRegex('https://git.example/{namespace}/{repo_name}')).toThrow(/must contain \{commit_sha\} once/)
  expect(() => commitRegex('{namespace}/{namespace}/{repo_name}/{commit_sha}')).toThrow(/\{namespace\} once/)
  expect(() => commitsIn('commit/(', [])).toThrow(/regex: the pattern .* does not compile/)
  expect(() => commitsIn('commit/(.*)', [])).toThrow(/must have the groups \(\?P<namespace>…\)/)
})
