/** After any configuration file is applied, the server has its settings, whatever it had before, and its export produces the same again. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { type ConfigDocument, parseConfig } from '../../src/config-as-code/document.ts'
import { exportConfig } from '../../src/config-as-code/export.ts'
import { applyConfig, planConfig } from '../../src/config-as-code/reconcile.ts'
import { openDatabase } from '../../src/database/open.ts'
import { ownFields } from '../../src/plugins/index.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { clearConfiguration, configContext, storedConfiguration } from './support/config-context.ts'
import { normalised, onlyNamed, restricted } from './support/config-documents.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const RUNS = process.env.FULL_SIZE ? 200 : 3
const reference = (name: string) => `\${${name}}`
const environment: Record<string, string> = {
  TOKEN: DEFAULT_TOKEN,
  SAME: DEFAULT_TOKEN,
  PASSWORD: 'pw-8Xq2LmZt',
  PATTERN: '^fix',
  LIMIT: '700',
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((each) => each.replaceAll('\0', '')),
  fc.constantFrom(
    '',
    ' ',
    'a ',
    '$',
    '${',
    '$${',
    '$${NAME}',
    '#',
    '- a',
    'null',
    'true',
    '1e3',
    '~',
    '"',
    "'",
    'x: y\nz',
  ),
)
const literal = text.map((each) => each.replaceAll('${', () => '$${'))
const name = fc.constantFrom('main', 'second', 'a b', 'a/b', '1', 'null', 'Ümlaut', 'constructor')
const key = fc.constantFrom('a', 'b', 'env', 'toString', 'é', '0')
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 2 }, literal, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 2 }),
  object: fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
})).object
const some = <Value>(fields: Record<string, fc.Arbitrary<Value>>) =>
  fc.record(fields, { requiredKeys: [], noNullPrototype: true })

const scopeConfig = some<unknown>({
  entities: fc.subarray(['CODE', 'TICKET', 'CICD', 'CODEREVIEW']),
  issueTypeBug: fc.oneof(fc.constant(reference('PATTERN')), fc.constantFrom('bug', '', 5)),
  deploymentPattern: fc.constantFrom('(?i)deploy', '', 'a$'),
  refdiff: fc.constantFrom(null, { tagsPattern: 'v', tagsLimit: 3 }, { tagsLimit: 3, tagsPattern: 'v' }),
  prSizeExcludedFileExtensions: fc.constantFrom([], ['.lock'], '.md'),
})
const task = fc.record(
  {
    plugin: fc.constantFrom('gitextractor', 'org'),
    options: fc.tuple(json, fc.boolean()).map(([options, isSecret]) => ({
      ...(options as object),
      ...(isSecret && { url: `https://git:${reference('PASSWORD')}@example.org/x.git`, token: reference('PASSWORD') }),
    })),
  },
  { noNullPrototype: true },
)
const tasks = fc.array(task, { minLength: 1, maxLength: 2 })
const plan = fc.oneof(tasks, fc.array(tasks, { minLength: 1, maxLength: 2 }))
const target = some<number>({
  'change-lead-time': fc.constantFrom(60, 1440.5),
  'change-failure-rate': fc.constantFrom(0, 0.15),
})
const project = fc.record(
  {
    targets: target,
    description: fc.oneof(literal, fc.constant(reference('PATTERN'))),
    metrics: fc.constantFrom(
      [],
      ['dora'],
      ['linker', 'dora'],
      [{ linker: { prToIssueRegexp: '#(\\d+)', z: 1, a: {} } }],
    ),
    schedule: fc.constantFrom('manual', '@daily', '0 0 * * *', '5 4 * * 1'),
    enable: fc.boolean(),
    timeAfter: fc.constantFrom(null, '2024-02-29', '2025-01-01T10:20:30.123+02:00'),
    skipOnFail: fc.boolean(),
    priority: fc.integer({ min: -5, max: 5 }),
    labels: fc.uniqueArray(fc.constantFrom('a', 'B', 'é', 'x y'), { maxLength: 3 }),
    beforePlan: fc.option(plan),
    afterPlan: fc.option(plan),
    skipCollectors: fc.boolean(),
    fullSync: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
)
const selector = fc.record(
  {
    isRuled: fc.boolean(),
    scopes: fc.constantFrom(
      ['acme/*'],
      ['acme/old'],
      ['acme/web', 'globex/**'],
      ['*/web'],
      [{ githubId: 7, name: 'x', fullName: 'acme/x' }],
    ),
    except: fc.constantFrom([], ['acme/api']),
    archived: fc.boolean(),
  },
  { requiredKeys: ['scopes', 'isRuled'], noNullPrototype: true },
)
const configuration = fc
  .record({
    github: fc.dictionary(name, fc.dictionary(name, scopeConfig, { maxKeys: 2, noNullPrototype: true }), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    webhook: fc.uniqueArray(name, { maxLength: 2 }),
    token: fc.constantFrom('TOKEN', 'SAME'),
    fields: some<unknown>({
      issues: some<unknown>({
        x_risk: fc.record({ type: fc.constant('varchar(255)'), title: fc.constantFrom('Risk', 'Danger', '') }),
        x_points: fc.record({ type: fc.constant('bigint'), description: fc.constantFrom('', 'Of the story.') }),
      }),
    }),
    groups: fc.dictionary(
      fc.constantFrom('one', 'two', 'three', 'Ümlaut', 'g'.repeat(255)),
      fc.record(
        { description: literal, isInside: fc.boolean(), takesProjects: fc.boolean(), targets: fc.option(target) },
        { noNullPrototype: true },
      ),
      { maxKeys: 3, noNullPrototype: true },
    ),
    isPersonal: fc.option(fc.boolean()),
    projects: fc.dictionary(
      name,
      fc.tuple(project, fc.option(plan), fc.array(fc.tuple(fc.nat(), selector), { maxLength: 3 })),
      {
        maxKeys: 2,
        noNullPrototype: true,
      },
    ),
  })
  .map(
    ({ github, webhook, token, projects, groups, isPersonal, fields }) =>
      (endpoint: string, earlier?: ConfigDocument) => {
        const references = [
          ...Object.keys(github).map((each) => `github/${each}`),
          ...webhook.map((each) => `webhook/${each}`),
        ]
        // A project that collects cannot change to its own plan, and a project with its own plan cannot begin to collect.
        const isAdvanced = (each: string, own: unknown) =>
          earlier && Object.hasOwn(earlier.projects, each) ? earlier.projects[each]?.plan !== undefined : own !== null
        const collected = (place: number, { isRuled, ...rules }: { readonly isRuled: boolean }) => {
          const connection = references[place % references.length] as string
          const configs = Object.keys(github[connection.slice('github/'.length)] ?? {})
          if (connection.startsWith('webhook/')) return { connection }
          return { connection, ...rules, ...(isRuled && configs.length > 0 && { scopeConfig: configs[0] }) }
        }
        const groupNames = Object.keys(groups)
        return stringify({
          groups: Object.fromEntries(
            Object.entries(groups).map(([each, { description, isInside, takesProjects, targets }], place) => [
              each,
              {
                description,
                // Each is in the one before it, so that there is no circle.
                ...(isInside && place > 0 && { parent: groupNames[place - 1] }),
                ...(takesProjects && { projects: Object.keys(projects) }),
                ...(targets && { targets }),
              },
            ]),
          ),
          ...(isPersonal !== null && { personalViews: isPersonal }),
          fields,
          connections: {
            github: Object.fromEntries(
              Object.entries(github).map(([each, scopeConfigs]) => [
                each,
                { endpoint, token: reference(token), rateLimitPerHour: reference('LIMIT'), scopeConfigs },
              ]),
            ),
            webhook: Object.fromEntries(webhook.map((each) => [each, {}])),
          },
          projects: Object.fromEntries(
            Object.entries(projects).map(([each, [fields, own, collect]]) => [
              each,
              {
                ...fields,
                ...(isAdvanced(each, own)
                  ? own && { plan: own }
                  : {
                      collect: references.length === 0 ? [] : collect.map(([place, rules]) => collected(place, rules)),
                    }),
              },
            ]),
          ),
        })
      },
  )

describeEachWithTables('generated configuration files', (test) => {
  let github: FakeGithub
  let one: TestApi
  let two: TestApi
  let other: Awaited<ReturnType<typeof openDatabase>>
  beforeAll(async () => {
    const repositories = ['acme/web', 'acme/api', 'globex/site'].map((each) => ({ name: each }))
    github = await startFakeGithub({ world: { repositories: [...repositories, { name: 'acme/old', archived: true }] } })
    one = await startTestApi(test.database)
    other = await openDatabase(await test.createDatabase())
    two = await startTestApi(other)
  })
  afterAll(async () => {
    await one.close()
    await two.close()
    await other.close()
    await github.stop()
  })
  const parse = (file: string) => parseConfig(file, 'weir.yaml', environment)
  const apply = (api: TestApi, file: string) => applyConfig(parse(file), configContext(api))

  it('are settled once they are applied, and are made again by their export', async () => {
    const isLawful = fc.asyncProperty(configuration, async (file) => {
      await clearAll()
      const first = file(`${github.url}/`)
      const planned = await planConfig(parse(first), configContext(one))
      expect(await apply(one, first)).toEqual(planned)
      const stored = await storedConfiguration(test.database)
      expect(await apply(one, first)).toEqual([])
      expect(await planConfig(parse(first), configContext(one))).toEqual([])
      const exported = await exportConfig(configContext(one))
      for (const secret of [DEFAULT_TOKEN, environment.PASSWORD as string]) {
        expect(exported).not.toContain(secret)
        expect(JSON.stringify(planned)).not.toContain(secret)
        expect(JSON.stringify(stored)).not.toContain(secret)
      }
      expect(await apply(one, exported)).toEqual([])
      expect(await exportConfig(configContext(one))).toBe(exported)
      await apply(two, exported)
      expect(await exportConfig(configContext(two))).toBe(exported)
      expect(await apply(two, first)).toEqual([])
    })
    await fc.assert(isLawful, {
      numRuns: RUNS,
      seed: Number(process.env.FAST_CHECK_SEED ?? 15),
      endOnFailure: !process.env.FULL_SIZE,
    })
  }, 1_800_000)

  /** Settings that stay as they are if a file leaves them out, as docs/config-as-code.md lists them. */
  const KEPT = ['timeAfter', 'plan', 'beforePlan', 'afterPlan', 'skipCollectors', 'fullSync'] as const

  it('make of any earlier state what they make of an empty server, also of what they no longer say', async () => {
    const isLawful = fc.asyncProperty(configuration, configuration, async (before, after) => {
      await clearAll()
      const later = after(`${github.url}/`)
      const names = Object.keys(parse(later).document.projects)
      const first = restricted(before(`${github.url}/`), names)
      await apply(one, first)
      const earlier = parse(first).document
      const second = after(`${github.url}/`, earlier)
      const planned = await planConfig(parse(second), configContext(one))
      expect(await apply(one, second)).toEqual(planned)
      expect(await planConfig(parse(second), configContext(one))).toEqual([])
      const { document } = parse(second)
      const kept = new Map(
        names.map((name) => {
          const given = { ...earlier.projects[name], ...document.projects[name] }
          return [
            name,
            Object.fromEntries(KEPT.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]]))),
          ]
        }),
      )
      const state = await stateOf(one, document)
      expect(state.document).toEqual(normalised(document, kept))
      for (const [name, { timeAfter }] of kept) {
        if (timeAfter !== undefined) expect(state.timeAfter.get(name), name).toEqual(timeAfter)
      }
      await apply(two, second)
      const fresh = await stateOf(two, document)
      expect(state.rules).toEqual(fresh.rules)
      expect(fresh.document.connections).toEqual(state.document.connections)
    })
    await fc.assert(isLawful, {
      numRuns: RUNS * 2,
      seed: Number(process.env.FAST_CHECK_SEED ?? 32),
      endOnFailure: !process.env.FULL_SIZE,
    })
  }, 1_800_000)

  async function clearAll() {
    for (const database of [test.database, other]) {
      await clearConfiguration(database)
      for (const { table, columnName } of await ownFields.list(database)) {
        await ownFields.remove(database, table, columnName)
      }
    }
  }

  /** Returns everything that the server has of the parts that a file names: its export, and the scope config of each scope. */
  async function stateOf(api: TestApi, named: ConfigDocument) {
    const { document } = parse(await exportConfig(configContext(api)))
    const rules: string[] = []
    for (const [name] of Object.entries(named.projects)) {
      const { blueprint } = await api.control.services.projects.get(name)
      for (const { pluginName, connectionId, scopes } of blueprint?.connections ?? []) {
        for (const { scopeId } of scopes) {
          const { scope, scopeConfig } = await api.control.services.scopes.get(pluginName, connectionId, scopeId)
          rules.push(`${name} ${scope.fullName}: ${scopeConfig?.name ?? 'none'}`)
        }
      }
    }
    const timeAfter = new Map(Object.entries(document.projects).map(([name, project]) => [name, project.timeAfter]))
    return { document: normalised(onlyNamed(document, named)), rules: rules.sort(), timeAfter }
  }
})
