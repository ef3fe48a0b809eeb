/** Remembers where a file used variables of the environment, so that an export can use their names again. */

import { PLAN_FIELDS } from '../control-plane/plan/stored-plans.ts'
import { deleteRows, insertRow, selectRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { configTemplates } from '../system/projects.ts'
import { isSame } from './change.ts'
import type { Path } from './config-file.ts'
import type { Reconciling } from './context.ts'
import { namesIn, type Template } from './variables.ts'

interface StoredTemplate extends Template {
  readonly path: Path
  /** The digest of the resulting value, which may be a secret. If the value has changed since, an export writes the new one where that is allowed. */
  readonly mark: string
}

export const markOf = (value: unknown, { digest }: Secrets): string => digest(JSON.stringify(value ?? null))
const subjectOf = (path: Path) => path.join('/')

export interface KnownTemplates {
  /** Finds the template by the path of a value in the file. */
  at(path: Path): StoredTemplate | undefined
  /** The number of places in which each variable is used. */
  readonly uses: ReadonlyMap<string, number>
}

export async function readTemplates({ kysely }: Database): Promise<KnownTemplates> {
  const known = new Map<string, StoredTemplate>()
  const uses = new Map<string, number>()
  for (const { subject, templates } of await selectRows(kysely, configTemplates)) {
    for (const each of templates as StoredTemplate[]) {
      known.set(JSON.stringify([subject, ...each.path]), each)
      for (const name of namesIn(each.text)) uses.set(name, (uses.get(name) ?? 0) + 1)
    }
  }
  const lengthOf = (path: Path) => (path[0] === 'connections' ? 3 : 2)
  const keyOf = (path: Path) => [subjectOf(path.slice(0, lengthOf(path))), ...path.slice(lengthOf(path))]
  return { at: (path) => known.get(JSON.stringify(keyOf(path))), uses }
}

/** In a plan without stages, the index of a task is followed by a name. An export also writes the stage, so it is inserted here. */
const asStored = ([kind]: Path, place: Path): Path =>
  kind === 'projects' && PLAN_FIELDS.some((field) => field === place[0]) && typeof place[2] === 'string'
    ? [place[0] as string, 0, ...place.slice(1)]
    : place

/** Stores the templates of a connection or project. This does not count as a change of configuration: only names change, not values. */
export async function saveTemplates(
  { config, control, database: { kysely } }: Pick<Reconciling, 'config' | 'control' | 'database'>,
  path: Path,
  values: unknown,
): Promise<void> {
  const subject = subjectOf(path)
  const [stored] = await selectRows(kysely, configTemplates, (query) => query.where('subject', '=', subject))
  const known = (stored?.templates ?? []) as readonly StoredTemplate[]
  const isUnset = (place: Path) => config.unset.some((each) => isSame(each.path, [...path, ...place]))
  const templates = config.templates.below(path).flatMap(([place, template]): readonly StoredTemplate[] => {
    // A value that stays as it is stored also keeps the name of its variable.
    if (isUnset(place)) return known.filter((each) => isSame(each.path, place))
    const value = place.reduce<unknown>(
      (each, key) => (each as Record<string | number, unknown> | undefined)?.[key],
      values,
    )
    return [{ path: asStored(path, place), ...template, mark: markOf(value, control.secrets) }]
  })
  if (isSame(known, templates)) return
  await deleteRows(kysely, configTemplates, { subject })
  if (templates.length > 0) await insertRow(kysely, configTemplates, { subject, templates })
}
