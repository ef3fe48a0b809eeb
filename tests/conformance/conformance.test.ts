import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { plugins } from '../../src/plugins/index.ts'
import { describeEachDatabase } from '../support/databases.ts'

const home = join(import.meta.dirname, '../../../shared/conformance')
const itWithReference = existsSync(home) ? it : it.skip

/** The existing plugins for which there are conformance cases. */
function comparedPlugins(): string[] {
  const cases = JSON.parse(readFileSync(join(home, 'manifest.json'), 'utf8')) as { plugin: string }[]
  const known = new Set(plugins.map(({ name }) => name))
  return [...new Set(cases.map(({ plugin }) => plugin))].filter((name) => known.has(name))
}

describeEachDatabase('conformance', (test) => {
  itWithReference('every plugin gives the tables of DevLake', { timeout: 300_000 }, () => {
    const compared = comparedPlugins()
    expect(compared).toEqual(
      expect.arrayContaining(['circleci', 'customize', 'dora', 'github', 'jenkins', 'jira', 'org']),
    )
    const only = compared.flatMap((name) => ['--only', name])
    const out = mkdtempSync(join(tmpdir(), 'weir-conformance-'))
    const main = join(import.meta.dirname, 'main.ts')
    execFileSync(process.execPath, [main, '--out', out, '--database', test.url, ...only], { stdio: 'pipe' })
    const judge = spawnSync(process.execPath, [join(home, 'judge.mjs'), '--actual', out, '--json', ...only], {
      encoding: 'utf8',
    })
    const { failures, total } = JSON.parse(judge.stdout)
    rmSync(out, { recursive: true })
    expect(failures).toEqual([])
    expect(total.passed).toBe(total.checks)
    expect(total.checks).toBeGreaterThan(85)
  })
})
