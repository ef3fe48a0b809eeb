/** Teams, people and accounts as CSV files that people keep in a spreadsheet. Each can be read, changed and sent back. */

import { sql } from 'kysely'
import type { AnyTable } from '../../database/table.ts'
import { keyOf, type TableRow } from '../../database/table.ts'
import { projectMapping } from '../../domain/crossdomain.ts'
import { accounts, teams, teamUsers, userAccounts, users } from '../../domain/people.ts'
import { connectedAccounts } from '../../metrics/calculate/user-accounts.ts'
import {
  type Csv,
  knowing,
  lineError,
  onLine,
  requireColumns,
  retrying,
  type TaskRun,
  write,
} from '../../plugin-kit/index.ts'

type Database = TaskRun['database']
/** Cells by the column of the file. */
type FileRow = Readonly<Record<string, string | number>>

export interface OrgFile {
  readonly name: string
  readonly title: string
  readonly columns: readonly string[]
  /** Columns that may not be empty. */
  readonly needed: readonly string[]
  /** Tables that are emptied before the file is imported. */
  readonly replaces: readonly AnyTable[]
  readonly read: (database: Database) => Promise<readonly FileRow[]>
  /** The first row is the one that the line describes. No two lines may describe the same row. */
  readonly rows: (cells: Readonly<Record<string, string>>) => readonly TableRow[]
  /** Example rows for a new file. */
  readonly sample?: readonly FileRow[]
}

/** Reads rows in the order of their keys, with null as empty text. */
async function select(
  { kysely }: Database,
  table: AnyTable,
  columns: Readonly<Record<string, string>>,
): Promise<FileRow[]> {
  const selected = Object.entries(columns).map(([shown, name]) => sql`${sql.ref(name)} as ${sql.id(shown)}`)
  const order = table.keys.map((position) => sql.ref(table.names[position] as string))
  const { rows } = await sql<Record<string, string | number | null>>`select ${sql.join(selected)}
    from ${sql.table(table.name)} order by ${sql.join(order)}`.execute(kysely)
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? ''])))
}

const BETWEEN_TEAMS = ';'
const wordsOf = (cell = '') => [
  ...new Set(
    cell
      .split(BETWEEN_TEAMS)
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  ),
]

const TEAM = { Id: 'id', Name: 'name', Alias: 'alias', ParentId: 'parent_id', SortingIndex: 'sorting_index' }
const USER = { Id: 'id', Name: 'name', Email: 'email' }
const ACCOUNT = {
  Id: 'id',
  Email: 'email',
  FullName: 'full_name',
  UserName: 'user_name',
  AvatarUrl: 'avatar_url',
  Organization: 'organization',
  CreatedDate: 'created_date',
  Status: 'status',
}
const MAPPING = { ProjectName: 'project_name', Table: 'table', RowId: 'row_id' }

export const orgFiles: readonly OrgFile[] = [
  {
    name: 'teams.csv',
    title: 'Teams',
    columns: Object.keys(TEAM),
    needed: ['Id'],
    replaces: [teams],
    read: (database) => select(database, teams, TEAM),
    rows: ({ Id = '', Name, Alias, ParentId, SortingIndex }) => [
      teams.row({
        id: Id,
        name: Name,
        alias: Alias,
        parent_id: ParentId,
        // The import accepts whole numbers as text.
        sorting_index: (SortingIndex?.trim() || 0) as number,
      }),
    ],
    sample: [
      { Id: '1', Name: 'Engineering', Alias: 'ENG', ParentId: '', SortingIndex: 0 },
      { Id: '2', Name: 'Storefront', Alias: 'WEB', ParentId: '1', SortingIndex: 1 },
      { Id: '3', Name: 'Payments', Alias: 'PAY', ParentId: '1', SortingIndex: 2 },
    ],
  },
  {
    name: 'users.csv',
    title: 'People and the teams they belong to',
    columns: [...Object.keys(USER), 'TeamIds'],
    needed: ['Id'],
    replaces: [users, teamUsers],
    async read(database) {
      const members = await select(database, teamUsers, { team: 'team_id', user: 'user_id' })
      const teamsOf = Map.groupBy(members, ({ user }) => user)
      return (await select(database, users, USER)).map((user) => ({
        ...user,
        TeamIds: (teamsOf.get(user.Id as string) ?? []).map(({ team }) => team).join(BETWEEN_TEAMS),
      }))
    },
    rows: ({ Id = '', Name, Email, TeamIds }) => [
      users.row({ id: Id, name: Name, email: Email }),
      ...wordsOf(TeamIds).map((team_id) => teamUsers.row({ team_id, user_id: Id })),
    ],
    sample: [
      { Id: '1', Name: 'Ada Lovelace', Email: 'ada@example.org', TeamIds: '1;2' },
      { Id: '2', Name: 'Grace Hopper', Email: 'grace@example.org', TeamIds: '2' },
      { Id: '3', Name: 'Alan Turing', Email: 'alan@example.org', TeamIds: '3' },
    ],
  },
  {
    name: 'user_account_mapping.csv',
    title: 'Accounts in tools and the people who own them',
    columns: [...Object.keys(ACCOUNT), 'UserId'],
    needed: [],
    replaces: [userAccounts, connectedAccounts],
    async read(database) {
      const owners = await select(database, userAccounts, { account: 'account_id', user: 'user_id' })
      const ownerOf = new Map(owners.map(({ account, user }) => [account, user]))
      return (await select(database, accounts, ACCOUNT)).map((account) => ({
        ...account,
        CreatedDate: account.CreatedDate ? (account.CreatedDate as unknown as Date).toISOString().slice(0, 10) : '',
        UserId: ownerOf.get(account.Id as string) ?? '',
      }))
    },
    rows: ({ Id, UserId }) => (Id && UserId ? [userAccounts.row({ account_id: Id, user_id: UserId })] : []),
  },
  {
    name: 'project_mapping.csv',
    title: 'Scopes that projects consist of',
    columns: Object.keys(MAPPING),
    needed: Object.keys(MAPPING),
    replaces: [],
    read: (database) => select(database, projectMapping, MAPPING),
    rows: ({ ProjectName = '', Table = '', RowId = '' }) => [
      projectMapping.row({ project_name: ProjectName, table: Table, row_id: RowId }),
    ],
    sample: [
      { ProjectName: 'shop', Table: 'boards', RowId: 'jira:JiraBoard:1:8' },
      { ProjectName: 'shop', Table: 'cicd_scopes', RowId: 'jenkins:JenkinsJob:1:deploy' },
      { ProjectName: 'shop', Table: 'repos', RowId: 'github:GithubRepo:1:384111310' },
    ],
  },
]

/** Finds the column of the file for a column of the table: `sorting_index` is SortingIndex, and `team_id` is in TeamIds. */
const shownColumn = ({ columns }: OrgFile, column: string) =>
  columns.find((each) => each.toLowerCase().startsWith(column.replaceAll('_', ''))) ?? column

/** Imports all of a file, or nothing if one line is wrong. `atEnd` gets the number of lines and runs in the same transaction. */
export async function takeOrgFile(
  database: Database,
  file: OrgFile,
  { header, records }: Csv,
  atEnd: (inside: Database, lines: number) => Promise<void>,
): Promise<void> {
  requireColumns(file.name, header, { known: file.columns, needed: file.needed })
  const made: TableRow[] = []
  const lineOf = new Map<string, number>()
  let lines = 0
  for await (const record of records) {
    lines++
    const empty = file.needed.find((name) => record.cells[name]?.trim() === '')
    if (empty) throw lineError(file.name, record.line, `column ${empty}: is empty.`)
    const rows = onLine(
      file.name,
      record,
      () => file.rows(record.cells),
      (column) => shownColumn(file, column),
    )
    const [main] = rows
    if (!main) continue
    const key = keyOf(main.table, main.cells)
    const before = lineOf.get(key)
    if (before) throw lineError(file.name, record.line, `it is about the same as line ${before}: keep one of them.`)
    lineOf.set(key, record.line)
    made.push(...rows)
  }
  await retrying(database, () =>
    database.transaction(async (inside) => {
      for (const table of file.replaces) await knowing(inside.kysely, table).deleteFrom(table.name).execute()
      await write(inside, made)
      await atEnd(inside, lines)
    }),
  )
}
