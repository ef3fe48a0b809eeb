import { describe, expect, it } from 'vitest'
import { findUnusedExports } from './export-rules.ts'

const check = (exported: string, importing: string, path = 'src/a/one.ts') =>
  findUnusedExports([
    { path, text: exported },
    { path: 'src/b/two.ts', text: importing },
  ])

describe('an export', () => {
  it.each([
    ['export const one = 1', ''],
    ['export const one = 1', "import { other } from '../a/one.ts'"],
    ['export const one = 1', "import { one } from '../a/another.ts'"],
    ['export async function one() {}', "import { other as one } from '../a/one.ts'"],
    ['export interface one {}', '// one'],
  ])('that nobody imports is refused: %j beside %j', (exported, importing) => {
    expect(check(exported, importing)).toEqual(['src/a/one.ts:1: no other file imports one: do not export it'])
  })

  it.each([
    ['export const one = 1', "import { one } from '../a/one.ts'"],
    ['export const one = 1', "import other, { one as two } from '../a/one.ts'"],
    ['export type one = 1', "import { type one, two } from '../a/one.ts'"],
    ['export type one = 1', "import type {\n  one,\n} from '../a/one.ts'"],
    ['export const one = 1', "export { one } from '../a/one.ts'"],
    ['export const one = 1', "export * from '../a/one.ts'"],
    ['export const one = 1', "import * as all from '../a/one.ts'"],
    ['export const one = 1', "const { one } = await import('../a/one.ts')"],
    ['export interface one {}', "declare module '../a/one.ts' {\n  interface one {\n    two: 2\n  }\n}"],
    ['export default one', ''],
  ])('that another file uses stays: %j beside %j', (exported, importing) => {
    expect(check(exported, importing)).toEqual([])
  })

  it('of a table stays beside its entity', () => {
    expect(check("export const builds = table('builds')", '', 'src/plugins/acme/entities/builds.ts')).toEqual([])
    expect(check('export const minutes = 1', '', 'src/plugins/acme/entities/builds.ts')).toHaveLength(1)
  })

  it('of a test or a script is not looked at', () => {
    expect(check('export const one = 1', '', 'scripts/one.ts')).toEqual([])
  })
})
