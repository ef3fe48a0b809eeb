/** The alert rules, checked with Prometheus' own tool. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { CAUSES } from '../../src/runner/standstill/causes.ts'
import { CAUSE_NAMES, type CauseName } from '../../src/runner/standstill/standing.ts'
import { missing, promtool } from './support/promtool.ts'
import { read, root } from './support/weir.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}
interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

const FOLDER = 'deploy/prometheus'
/** Tests of minutes, and tests over days. */
const TESTS = ['rules.test.yaml', 'rules-in-days.test.yaml']
const rules: Rules = parse(read(`${FOLDER}/rules.yaml`))
const alerts = rules.groups.flatMap((group) => group.rules)

it('every alert has a name of its own, a severity, and two sentences', () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  for (const { alert, labels, annotations } of alerts) {
    expect(alert).toMatch(/^Weir[A-Z]\w+$/)
    expect(Object.keys(labels), alert).toEqual(['severity'])
    expect(['critical', 'warning'], alert).toContain(labels.severity)
    expect(Object.keys(annotations), alert).toEqual(['summary', 'description'])
    for (const text of Object.values(annotations)) expect(text, alert).toMatch(/\.$/)
  }
})

it('every cause to stand still has an alert, and alerts name causes and severities that there are', () => {
  const named = alerts.flatMap(({ expr }) => [
    ...expr.matchAll(/weir_attention\{cause="(\w+)"(?:,severity="(\w+)")?\}/g),
  ])
  expect(new Set(named.map(([, cause]) => cause))).toEqual(new Set(CAUSE_NAMES))
  for (const [text, cause, severity] of named) {
    const { severities } = CAUSES[cause as CauseName]
    if (severity) expect(severities, text).toContain(severity)
  }
})

it('docs/operations.md explains every alert', () => {
  const documented = [...read('docs/operations.md').matchAll(/^\| `(Weir\w+)` \|/gm)].map(([, name]) => name)
  expect(documented.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
})

describe.skipIf(missing)(`the alert rules, by promtool${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true })
  })
  /** Runs the tests with every rule replaced by this expression. */
  function testsWith(expr: string) {
    const changed = structuredClone(rules)
    for (const rule of changed.groups.flatMap((group) => group.rules)) Object.assign(rule, { expr })
    const folder = mkdtempSync(join(tmpdir(), 'weir-rules-'))
    folders.push(folder)
    writeFileSync(join(folder, 'rules.yaml'), stringify(changed))
    for (const name of TESTS) cpSync(join(root, FOLDER, name), join(folder, name))
    return promtool(folder, 'test', 'rules', ...TESTS)
  }

  it('are understood', () => {
    expect(promtool(join(root, FOLDER), 'check', 'rules', 'rules.yaml')).toEqual({
      status: 0,
      text: expect.stringContaining(`${alerts.length} rules found`),
    })
  })

  it('ring when they should, and are silent otherwise', () => {
    const { status, text } = promtool(join(root, FOLDER), 'test', 'rules', ...TESTS)
    expect(text).not.toContain('FAILED')
    expect(status).toBe(0)
  })

  it.each([
    ['never', 'vector(1) == 0'],
    ['always', 'vector(1)'],
  ])('every one is noticed if it %s rings', (_when, expr) => {
    const { status, text } = testsWith(expr)
    expect(status).toBe(1)
    for (const { alert } of alerts) expect(text).toMatch(new RegExp(`alertname(:|=")\\s*${alert}\\b`))
  })
})
