import { expect, test } from 'vitest'
import { isOwnAddress, withoutSlash } from './addresses.ts'

test('a slash at the end is taken away', () => {
  expect(withoutSlash('/projects/?page=2')).toBe('/projects?page=2')
  expect(withoutSlash('/projects///')).toBe('/projects')
  expect(withoutSlash('/projects')).toBeUndefined()
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
