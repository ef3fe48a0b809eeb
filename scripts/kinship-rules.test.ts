// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are code that is checked.
import { expect, it } from 'vitest'
import { findGuessedKin } from './kinship-rules.ts'

const check = (text: string, path = 'src/control-plane/some.ts') => findGuessedKin([{ path, text }])

it.each([
  // As they were before, in the files that deleted too much.
  'plugins.filter(({ name }) => name === source.name || name.startsWith(`${source.name}_`))',
  'const own = plugins.filter(({ name }) => name === plugin || name.startsWith(`${plugin}_`))',
  'const prefix = `_raw_${source.name}_`',
  'const isOwn = sql`substr(_raw_data_table, 1, ${prefix.length}) = ${prefix}`',
  '.filter(({ raw_data_table }) => raw_data_table.startsWith(before))',
  "forget(collectorLatestState, sql`substr(${sql.ref('raw_data_table')}, 1, 5) = ${raw}`)",
  // Other ways to write the same.
  'names.filter((name) => name.startsWith(plugin.name))',
  'names.filter((name) => name.startsWith(`${name}`))',
  "const prefix = '_raw_' + name",
  'sql`delete from x where _raw_data_table like ${prefix}`',
  "query.where('raw_table', 'like', prefix)",
  'sql`plugin like ${name}`',
  'plugin.name.startsWith(source)',
  'const owner = plugin.settingsOf ?? plugin',
  'const name = plugin.settingsOf?.name ?? plugin.name',
])('%s is refused', (text) => {
  expect(check(text)).not.toEqual([])
})

it.each([
  "if (name.startsWith('_raw_')) return 'raw'",
  'const source = plugins.find(({ name }) => connection.startsWith(`${name}/`))?.source',
  'const isHere = (name: string) => plugins.some((plugin) => name.startsWith(`${plugin.name}:`))',
  'const own = pluginsOfFamily(plugins, source.name)',
  'if (source.settingsOf) return []',
  'columns.filter((name) => name.startsWith(start))',
])('%s is fine', (text) => {
  expect(check(text)).toEqual([])
})

it('names the line, and lets the file that knows families read the declaration', () => {
  expect(check('\n\nconst prefix = `_raw_${name}_`')[0]).toMatch(/^src\/control-plane\/some\.ts:3: /)
  expect(check('plugin.settingsOf ?? plugin', 'src/plugin-kit/task/family.ts')).toEqual([])
  expect(check('const prefix = `_raw_${name}_`', 'src/control-plane/some.test.ts')).toEqual([])
})
