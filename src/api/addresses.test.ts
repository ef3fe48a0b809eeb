import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { isKeyed, isOwnAddress, rewriteUrl, withoutSlash } from './addresses.ts'

const request = (url: string, method = 'GET', accept = '*/*') =>
  ({ method, url, headers: { accept } }) as unknown as IncomingMessage
const BROWSER = 'text/html,application/xhtml+xml'

test('one table of routes serves the addresses with and without /api and /rest', () => {
  for (const url of [
    '/projects?page=2',
    '/api/projects?page=2',
    '/rest/projects?page=2',
    '/api/rest/projects?page=2',
  ]) {
    expect(rewriteUrl(request(url)), url).toBe('/projects?page=2')
  }
  expect(rewriteUrl(request('/api'))).toBe('/')
  expect(rewriteUrl(request('/api?page=2'))).toBe('/?page=2')
  expect(rewriteUrl(request('/apis/x'))).toBe('/apis/x')
})

test('only what is sent to /rest needs a key', () => {
  const keyed = (url: string) => {
    const sent = request(url)
    rewriteUrl(sent)
    return isKeyed(sent)
  }
  expect(['/rest/projects', '/api/rest/projects', '/projects', '/api/projects', '/restful'].map(keyed)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('a browser that opens a page gets the web client, and a program at the same address gets data', () => {
  expect(rewriteUrl(request('/projects/shop', 'GET', BROWSER))).toBe('/')
  expect(rewriteUrl(request('/projects/shop'))).toBe('/projects/shop')
  expect(rewriteUrl(request('/projects', 'POST', BROWSER))).toBe('/projects')
  expect(rewriteUrl(request('/pipelines', 'GET', BROWSER))).toBe('/pipelines')
})

test('the slashes within the id of a scope belong to the id', () => {
  const at = '/plugins/circleci/connections/1/scopes/'
  expect(rewriteUrl(request(`${at}gh/acme/web?x=1`))).toBe(`${at}gh%2Facme%2Fweb?x=1`)
  expect(rewriteUrl(request(`${at}gh/acme/web/latest-sync-state`))).toBe(`${at}gh%2Facme%2Fweb/latest-sync-state`)
  expect(rewriteUrl(request(`${at}12`))).toBe(`${at}12`)
  // As it was sent: other routes decide what an empty parameter list means.
  expect(rewriteUrl(request(`${at}12?`))).toBe(`${at}12?`)
})

test('a slash at the end is taken away', () => {
  expect(withoutSlash('/projects/?page=2')).toBe('/projects?page=2')
  expect(withoutSlash('/projects///')).toBe('/projects')
  expect(withoutSlash('/projects')).toBeUndefined()
  expect(withoutSlash('/')).toBeUndefined()
  expect(withoutSlash('/plugins/github/connections/1/proxy/rest/user/')).toBeUndefined()
})

test('no redirect leads to another server, however its address is written', () => {
  const hostile = [
    '//host/',
    '/\\host/',
    '\\\\host/',
    '/\\/host/',
    '/\t/host/',
    '/\u0000/host/',
    '/a\\b/',
    'http://host/',
  ]
  for (const address of hostile) {
    expect(withoutSlash(address), address).toBeUndefined()
    expect(isOwnAddress(address), address).toBe(false)
  }
  for (const address of ['/', '/projects/a%5Cb', '/projects?next=//host']) expect(isOwnAddress(address)).toBe(true)
})

test('many slashes cost no more than their number', () => {
  const begun = performance.now()
  withoutSlash(`/a${'/'.repeat(1_000_000)}b/`)
  expect(performance.now() - begun).toBeLessThan(2000)
})
