/** Creates and changes groups as a file says, completely or not at all. */

import { shortName } from '../../basics/nearest.ts'
import type { Database } from '../../database/database.ts'
import { retrying } from '../../database/write.ts'
import { UserError } from '../../errors.ts'
import type { Actor } from '../audit/record.ts'
import type { GroupLine } from './group-file.ts'
import { readGroupTree } from './group-tree.ts'
import { createGroup, updateGroup } from './groups.ts'

interface ImportedGroups {
  readonly created: readonly string[]
  readonly changed: readonly string[]
}

/** Returns the parent that the lines of a group name. A group in two places would be in neither. */
function parentIn(lines: readonly GroupLine[]): string | null | undefined {
  const [first, ...others] = lines as [GroupLine, ...GroupLine[]]
  const other = others.find(({ parent }) => parent !== first.parent)
  if (other) {
    throw lineError(
      other,
      `the group ${shortName(other.group)} has another parent than in line ${first.line}: keep one.`,
    )
  }
  return first.parent === undefined ? undefined : first.parent || null
}

const lineError = ({ line }: GroupLine, message: string) =>
  new UserError(`groups.csv, line ${line}: ${message} Nothing was imported.`)

export async function importGroups(
  database: Database,
  lines: readonly GroupLine[],
  actor: Actor,
): Promise<ImportedGroups> {
  const nameless = lines.find(({ group }) => group === '')
  if (nameless) throw lineError(nameless, 'the group has no name: give it one, or take the line out.')
  const groups = Map.groupBy(lines, ({ group }) => group)
  return retrying(database, () =>
    database.transaction(async (inside) => {
      const known = (await readGroupTree(inside.kysely)).groups
      const created = [...groups.keys()].filter((name) => !known.has(name))
      // Groups may be named as parents before their own lines.
      for (const name of created) await createGroup(inside, { name }, actor)
      for (const [name, own] of groups) {
        const projects = own.flatMap(({ project }) => (project === '' ? [] : [project]))
        await updateGroup(inside, name, { parent: parentIn(own), projects }, undefined, actor)
      }
      return { created, changed: [...groups.keys()].filter((name) => known.has(name)) }
    }),
  )
}
