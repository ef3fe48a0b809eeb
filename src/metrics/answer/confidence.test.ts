import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CONFIDENCE, confidenceOf, type Grounds } from './confidence.ts'

const grounds = (missing: number, lists: number, counted: number, possible = counted): Grounds => ({
  missing,
  lists,
  materials: [
    { material: 'pull requests', counted, possible },
    { material: 'deployments', counted: 500, possible: 500 },
  ],
})

it('is high only if nothing is missing, most of it counts, and there is enough of it', () => {
  expect(confidenceOf(grounds(0, 12, 30))).toEqual({
    confidence: 'high',
    because: 'Every list came whole, and enough of the records count.',
  })
  expect(confidenceOf(grounds(0, 0, 80, 100)).confidence).toBe('high')
})

it('is medium if one of the three is weaker, and says which', () => {
  expect(confidenceOf(grounds(1, 12, 300))).toEqual({
    confidence: 'medium',
    because: '1 of 12 lists did not come whole.',
  })
  expect(confidenceOf(grounds(0, 12, 79, 100))).toEqual({
    confidence: 'medium',
    because: 'Only 79 of 100 pull requests count.',
  })
  expect(confidenceOf(grounds(0, 12, 29))).toEqual({ confidence: 'medium', because: 'Only 29 pull requests count.' })
  expect(confidenceOf(grounds(1, 12, 10, 20)).because).toBe(
    '1 of 12 lists did not come whole; only 10 of 20 pull requests count.',
  )
})

it('is low if one of the three is weak', () => {
  expect(confidenceOf(grounds(2, 12, 300))).toEqual({ confidence: 'low', because: '2 of 12 lists did not come whole.' })
  expect(confidenceOf(grounds(0, 12, 49, 100)).because).toBe('Only 49 of 100 pull requests count.')
  expect(confidenceOf(grounds(0, 12, 9))).toEqual({ confidence: 'low', because: 'Only 9 pull requests count.' })
  expect(confidenceOf(grounds(0, 12, 1))).toEqual({ confidence: 'low', because: 'Only 1 pull request counts.' })
})

it('is none if nothing counts', () => {
  const none = { confidence: 'none', because: 'Nothing counts.' }
  expect(confidenceOf(grounds(0, 12, 0, 40))).toEqual(none)
  expect(confidenceOf({ missing: 0, lists: 3, materials: [] })).toEqual(none)
  // A material that nobody collects does not lower the confidence.
  const unknown = { material: 'pull requests', counted: 0, possible: 0 }
  const deployments = { material: 'deployments', counted: 40, possible: 40 }
  expect(confidenceOf({ missing: 0, lists: 3, materials: [unknown, deployments] }).confidence).toBe('high')
})

it('follows the table of the documents', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/metrics.md'), 'utf8')
  const part = (share: number) => `${share * 100} %`
  for (const { word, mostMissing, leastShare, leastSample } of CONFIDENCE) {
    const missing = mostMissing === 0 ? 'none' : mostMissing === 1 ? 'any number' : `at most ${part(mostMissing)}`
    const share = leastShare === 0 ? 'any' : `at least ${part(leastShare)}`
    expect(text).toContain(`| ${word} | ${missing} | ${share} | at least ${leastSample} |`)
  }
})
