/**
 * npm run count-entities: lines of code per entity, plugin by plugin. It counts the lines in `entities/` and `graphql/` that
 * are neither empty nor comments. Entities are those that the plugin consists of.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { plugins } from '../src/plugins/index.ts'

export interface Counted {
  readonly plugin: string
  readonly entities: number
  readonly lines: number
}

/** The most lines that an entity may take on average, over all plugins. */
export const MOST_LINES = 60

const home = join(import.meta.dirname, '../src/plugins')
const COMMENT = /^(\/\/|\/\*|\*)/

const linesOf = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !COMMENT.test(line)).length

export function countEntities(): Counted[] {
  const files = globSync(join(home, '*/{entities,graphql}/*.ts')).filter((file) => !file.endsWith('.test.ts'))
  const byFolder = Map.groupBy(files, (file) => basename(dirname(dirname(file))))
  /** The plugin's own folder, or that of the plugin that it extends. */
  const folderOf = (name: string) =>
    byFolder.has(name.replaceAll('_', '-')) ? name.replaceAll('_', '-') : name.replace(/_.*$/, '')
  return [...byFolder].sort().map(([folder, own]) => {
    const made = plugins.filter(({ name }) => folderOf(name) === folder)
    const entities = new Set(made.flatMap(({ source, pushSource }) => (source ?? pushSource)?.entities ?? []))
    const plugin = made.find(({ source }) => !source?.settingsOf)?.name ?? folder
    return { plugin, entities: entities.size, lines: own.reduce((sum, file) => sum + linesOf(file), 0) }
  })
}

export function meanOf(counted: readonly Counted[]): number {
  const sum = (field: 'entities' | 'lines') => counted.reduce((total, each) => total + each[field], 0)
  return sum('lines') / sum('entities')
}

if (import.meta.main) {
  const counted = countEntities()
  for (const { plugin, entities, lines } of counted) {
    console.log(
      `${plugin.padEnd(16)} ${String(entities).padStart(3)} entities ${String(lines).padStart(5)} lines ${(lines / entities).toFixed(1).padStart(6)} each`,
    )
  }
  console.log(`count-entities: ${meanOf(counted).toFixed(1)} lines an entity (at most ${MOST_LINES})`)
}
