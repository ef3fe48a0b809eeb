/**
 * Two related plugins may collect the same scopes in different ways: GitHub over REST and over GraphQL. Neither keeps the records
 * of the other up to date, so a change of plugin starts over. So does a change of the scope's name: many records contain it, but
 * the vendor does not report them as changed.
 */

import { sql } from 'kysely'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { extractedTables } from '../raw/descendants.ts'
import { rawTable } from '../raw/raw-table.ts'
import type { PluginSpec, SourceTask } from '../spec/plugin.ts'
import { familyOf, ownerOf } from './family.ts'
import { forgetScope } from './forget-scope.ts'
import { oncePerTask } from './known-of-task.ts'
import { openRememberedText } from './remembered-text.ts'
import { renameScope } from './rename-scope.ts'

/** Raw tables that only related plugins fill, with the tool tables made from them. */
function rawsOfSiblings(plugin: PluginSpec): Map<string, readonly AnyTable[]> {
  const own = new Set(plugin.entities.map(({ spec }) => spec.raw))
  const raws = new Map<string, readonly AnyTable[]>()
  for (const sibling of familyOf(plugin)) {
    for (const entity of sibling.entities) {
      const { raw } = entity.spec
      if (raw && !own.has(raw)) raws.set(raw, [...(raws.get(raw) ?? []), ...extractedTables(entity)])
    }
  }
  return raws
}

/** Raw tables of related plugins whose rows are replaced when all rows of these tables are made again. */
export const replacedRaws = (plugin: PluginSpec, tables: readonly AnyTable[]): string[] =>
  [...rawsOfSiblings(plugin)].flatMap(([raw, made]) =>
    made.some((table) => tables.includes(table)) ? [rawTable(raw).name] : [],
  )

/** Handles a change of plugin or of the scope's name. Runs once per task, before anything is collected. */
export const takeOverScope = (task: SourceTask): Promise<void> =>
  oncePerTask(task, `take over ${task.params}`, () => takeOver(task))

async function takeOver(task: SourceTask): Promise<void> {
  const { database, plugin, params } = task
  const family = ownerOf(plugin).name
  const known = openRememberedText(database, {
    plugin: family,
    subtask: 'rows are marked by',
    params: scopeKeyOf(task),
  })
  const from = await known.read()
  const last = await openRememberedText(database, collectedBy(plugin, from ?? params)).read()
  if (from !== null && from !== params) {
    task.log?.('the name of this scope has changed: everything is collected again')
    await renameScope(database, plugin, { from, to: params })
    for (const each of [from, params]) await forgetScope(database, plugin, each)
  }
  if (from !== params) await known.write(params)
  if (familyOf(plugin).length < 2) return
  if (last !== null && last !== plugin.name) {
    task.log?.(`this scope was collected by ${last} before: everything is collected again`)
    await forgetScope(database, plugin, params)
    await dropWhatSiblingsAloneMake(task)
  }
  if (last !== plugin.name || from !== params) {
    await openRememberedText(database, collectedBy(plugin, params)).write(plugin.name)
  }
}

const collectedBy = (plugin: PluginSpec, params: string) => ({
  plugin: ownerOf(plugin).name,
  subtask: 'collected by',
  params,
})

const scopeKeyOf = ({ plugin, context }: SourceTask): string => {
  const { names, keys } = plugin.scope.table
  return JSON.stringify(keys.map((position) => context.scope[names[position] as string]))
}

async function dropWhatSiblingsAloneMake({ database, plugin, params }: SourceTask): Promise<void> {
  const written = new Set(plugin.entities.flatMap(extractedTables))
  const run = (statement: ReturnType<typeof sql>) => retrying(database, () => statement.execute(database.kysely))
  for (const [name, tables] of rawsOfSiblings(plugin)) {
    const raw = rawTable(name)
    await run(sql`delete from ${sql.table(raw.name)} where params = ${params}`)
    for (const table of tables) {
      if (written.has(table)) continue
      await run(sql`delete from ${sql.table(table.name)}
        where _raw_data_params = ${params} and _raw_data_table = ${raw.name}`)
    }
  }
}
