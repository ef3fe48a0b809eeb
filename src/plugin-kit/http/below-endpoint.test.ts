import { expect, test } from 'vitest'
import { urlOf } from './http-message.ts'

const ENDPOINT = 'https://jira.example/rest/'

test.each([
  '..',
  '../admin',
  'api/../../admin',
  './../admin',
  '%2e%2e/admin',
  '.%2E/admin',
  '%252e%252e/admin',
  '%25252e%25252e/admin',
  '..%2fadmin',
  '..%252fadmin',
  '..%5cadmin',
  '..\\admin',
  'api\\..\\..\\admin',
  '..;/admin',
  '..;a=b/admin',
  '.\n./admin',
  '.\t%2e/admin',
  '%2525252525252525252e',
  'api/%2e%2e%2f%2e%2e%2fadmin?x=1',
])('%j does not leave the path of the endpoint', (path) => {
  expect(() => urlOf(ENDPOINT, { path })).toThrow(/must lie below the endpoint/)
})

test.each([
  ['api/2/search', '/rest/api/2/search'],
  ['/api/2/a...b', '/rest/api/2/a...b'],
  ['projects/group%2Fname', '/rest/projects/group%2Fname'],
  ['users/DOMAIN%5Cname', '/rest/users/DOMAIN%5Cname'],
  ['files/.github', '/rest/files/.github'],
  ['100%25/..name', '/rest/100%25/..name'],
  ['/', '/rest/'],
  ['', '/rest/'],
  ['//elsewhere.example/x', '/rest//elsewhere.example/x'],
])('%j lies below it', (path, pathname) => {
  expect(urlOf(ENDPOINT, { path })).toMatchObject({ origin: 'https://jira.example', pathname })
})

test('dots in the query are no path', () => {
  expect(urlOf(ENDPOINT, { path: 'x?at=../..' }).href).toBe('https://jira.example/rest/x?at=../..')
})
