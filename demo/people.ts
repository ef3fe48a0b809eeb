/** Who is who, by the CSV files that people would keep in a spreadsheet. */
import { parse } from 'csv-parse/sync'
import type { Ask } from './fill.ts'
import { TEAMS } from './organisation.ts'

const users = TEAMS.flatMap(({ name: team, people }) => people.map((person) => ({ ...person, team })))

const cell = (value: string) => `"${value.replaceAll('"', '""')}"`
const csvOf = (header: readonly string[], rows: readonly (readonly string[])[]) =>
  [header, ...rows].map((row) => row.map(cell).join(',')).join('\n')

async function upload(ask: Ask, file: string, text: string): Promise<void> {
  const form = new FormData()
  form.set('file', new Blob([text], { type: 'text/csv' }), file)
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? ''
  await ask('PUT', `/plugins/org/${file}`, Buffer.from(await encoded.arrayBuffer()), type)
}

export async function importPeople(ask: Ask): Promise<void> {
  const teams = TEAMS.map(({ name }, index) => [name.toLowerCase(), name, '', '', String(index)])
  await upload(ask, 'teams.csv', csvOf(['Id', 'Name', 'Alias', 'ParentId', 'SortingIndex'], teams))
  const people = users.map(({ login, name, email, team }) => [login, name, email, team.toLowerCase()])
  await upload(ask, 'users.csv', csvOf(['Id', 'Name', 'Email', 'TeamIds'], people))
}

/** The accounts that collection made, each given to who has its name. */
export async function connectAccounts(ask: Ask): Promise<void> {
  const ownerOf = new Map(users.flatMap(({ login, name }) => [login, name].map((known) => [known, login])))
  const text: string = await ask('GET', '/plugins/org/user_account_mapping.csv')
  const rows: Readonly<Record<string, string>>[] = parse(text, { columns: true, bom: true })
  const owned = rows.map(({ Id = '', UserName = '', FullName = '' }) => [
    Id,
    ownerOf.get(UserName) ?? ownerOf.get(FullName) ?? '',
  ])
  await upload(ask, 'user_account_mapping.csv', csvOf(['Id', 'UserId'], owned))
}
