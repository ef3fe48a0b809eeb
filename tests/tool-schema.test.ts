/** The tool tables of every existing plugin equal DevLake's list. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Column, Table } from '../src/database/table.ts'
import { plugins } from '../src/plugins/index.ts'

interface ReferenceColumn {
  readonly name: string
  readonly type: string
  /** The type after DevLake's migrations, if it differs. */
  readonly dbType?: string
  readonly primaryKey: boolean
  readonly autoIncrement?: boolean
  readonly serializer?: string
  readonly missingAs?: string
  readonly note?: string
}
interface ReferenceTable {
  readonly plugin: string
  readonly table: string
  readonly idPrefix: string
  readonly idKey: readonly string[]
  readonly note?: string
  readonly columns: readonly ReferenceColumn[]
}

const file = new URL('../../shared/reference/schema/tool-tables.json', import.meta.url)
const reference: ReferenceTable[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
const isReal = ({ note = '' }: { note?: string }) =>
  !/no such table|absent from the current model|no current model uses it/.test(note)
const toolTables = new Map(
  plugins.flatMap(({ tables }) =>
    tables.filter(({ name }) => name.startsWith('_tool_')).map((each) => [each.name, each]),
  ),
)
const wanted = reference.filter((each) => isReal(each) && plugins.some(({ name }) => name === each.plugin))

/** DevLake's keys lack the connection, so that two connections overwrite each other's rows. */
const WITHOUT_CONNECTION = ['_tool_pagerduty_assignments', '_tool_opsgenie_assignments']
/** Columns that DevLake lacks, because it loses or does not request the data. */
const ADDED = new Map<string, readonly string[]>([
  ['_tool_argocd_applications', ['dest_name']],
  ['_tool_azuredevops_go_connections', ['endpoint', 'rate_limit_per_hour']],
  [
    '_tool_azuredevops_go_scope_configs',
    [
      'env_name_pattern',
      'issue_type_requirement',
      'issue_type_bug',
      'issue_type_incident',
      'pr_size_excluded_file_extensions',
      'issue_text_incident',
      'production_branch_pattern',
    ],
  ],
  ...['bitbucket', 'github', 'gitlab'].map(
    (plugin) =>
      [`_tool_${plugin}_scope_configs`, ['issue_text_incident', 'production_branch_pattern']] as [string, string[]],
  ),
  ['_tool_circleci_scope_configs', ['production_branch_pattern']],
  ['_tool_jenkins_scope_configs', ['production_branch_pattern', 'unstable_result']],
  ['_tool_jira_scope_configs', ['issue_text_incident']],
  ['_tool_azuredevops_go_pull_requests', ['is_draft', 'closed_by_id', 'closed_by_name']],
  ['_tool_github_deployments', ['run_id']],
])

/** Columns that DevLake truncates. */
const UNCUT = ['_tool_sonarqube_hotspots.component', '_tool_sonarqube_issue_code_blocks.component']

const TYPES: Record<Column['kind'], string> = {
  string: 'string',
  text: 'text',
  integer: 'int',
  bigint: 'bigint',
  double: 'float',
  boolean: 'bool',
  timestamp: 'datetime(3)',
  date: 'date',
  json: 'json',
  bytes: 'bytes',
}
const typeOf = ({ kind, size }: Column) => (kind === 'string' ? `string(${size})` : TYPES[kind])

function allowedTypes({ type, dbType = type, serializer }: ReferenceColumn): string[] {
  if (serializer === 'encdec') return ['text'] // ciphertext is longer than the text that it hides
  return [type, dbType, ...(serializer === 'json' ? ['json'] : [])]
}

function missingOf({ kind, missing }: Column): string {
  if (missing !== 'empty') return missing
  return kind === 'boolean' ? 'false' : kind === 'string' || kind === 'text' ? "''" : '0'
}

/** Returns the differences of one column from DevLake's. Empty if there are none. */
function differences(column: Column, expected: ReferenceColumn): object {
  const found = {
    type: typeOf(column),
    isKey: Boolean(column.isKey),
    isGenerated: Boolean(column.isGenerated),
    missing: column.isKey ? undefined : missingOf(column),
  }
  const types = allowedTypes(expected)
  const should = {
    type: types.includes(found.type) ? found.type : types.join(' or '),
    isKey: expected.primaryKey,
    isGenerated: Boolean(expected.autoIncrement),
    missing: expected.primaryKey ? undefined : expected.missingAs,
  }
  return JSON.stringify(found) === JSON.stringify(should) ? {} : { found, should }
}

if (reference.length === 0)
  test.skip('skipped: the folder ../shared with the schema of DevLake is not beside the repository')
else test('there are plugins to compare', () => expect(wanted.length).toBeGreaterThan(0))

test.each(wanted.map((each) => [each.table, each] as const))('%s', (name, { columns, idPrefix, idKey }) => {
  const table = toolTables.get(name) as Table<any>
  expect(table, 'is defined').toBeDefined()
  const isCompleted = WITHOUT_CONNECTION.includes(name)
  const asKey = (each: ReferenceColumn) =>
    isCompleted && each.name === 'connection_id' ? { ...each, primaryKey: true } : each
  const uncut = (each: ReferenceColumn) => (UNCUT.includes(`${name}.${each.name}`) ? { ...each, dbType: 'text' } : each)
  const expected = new Map(columns.filter(isReal).map((each) => [each.name, uncut(asKey(each))]))
  const added = ADDED.get(name) ?? []
  expect([...table.names].sort()).toEqual([...expected.keys(), ...added].sort())
  for (const [column, each] of expected) {
    expect({ [column]: differences(table.columns[column], each) }).toEqual({ [column]: {} })
  }
  expect(table.keys.map((position) => table.names[position])).toEqual([
    ...(isCompleted ? ['connection_id'] : []),
    ...idKey,
  ])
  if (table.idPrefix) expect(table.idPrefix).toBe(idPrefix)
})
