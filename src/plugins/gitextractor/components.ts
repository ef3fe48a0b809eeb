import { components } from '../../domain/code.ts'
import { compilePattern, matches, type TaskRun } from '../../plugin-kit/index.ts'

export interface Components {
  /** Returns the first component, by name, whose pattern is found in the path, or `Default`. */
  of(path: string): string
  /** Changes when results may change. */
  readonly description: string
}

/** Paths occur repeatedly, so up to this many are remembered. */
const MOST_PATHS = 50_000

export async function readComponents(database: TaskRun['database'], repoId: string): Promise<Components> {
  const rows: { name: string; path_regex: string }[] = await database.kysely
    .selectFrom(components.name)
    .select(['name', 'path_regex'])
    .where('repo_id', '=', repoId)
    .orderBy('name')
    .execute()
  const patterns = rows.map(({ name, path_regex }) => ({
    name,
    pattern: compilePattern(path_regex, `component ${name}`),
  }))
  const found = new Map<string, string>()
  return {
    description: JSON.stringify(rows),
    of(path) {
      let name = found.get(path)
      if (name === undefined) {
        name = patterns.find(({ pattern }) => matches(pattern, path))?.name ?? 'Default'
        if (found.size >= MOST_PATHS) found.clear()
        found.set(path, name)
      }
      return name
    },
  }
}
