/** Writes groups, targets and the switch of personal views for a configuration file. */
import { listGroups } from '../control-plane/groups/groups.ts'
import { ownTargets, type TargetOwner } from '../control-plane/groups/targets.ts'
import { arePersonalViewsOn } from '../control-plane/people/personal-views.ts'
import type { Database } from '../database/database.ts'
import type { VariableNames } from './variable-names.ts'

/** The targets that are set for the project or group itself; nothing if there is none. */
export async function exportTargets(database: Database, owner: TargetOwner): Promise<Record<string, unknown>> {
  const targets = await ownTargets(database, owner)
  if (targets.length === 0) return {}
  return { targets: Object.fromEntries(targets.map(({ metric, value }) => [metric, value])) }
}

export async function exportGroups(database: Database, names: VariableNames): Promise<Record<string, unknown>> {
  const groups: [string, unknown][] = []
  for (const { name, description, parent, projects } of await listGroups(database)) {
    const own = {
      ...(description !== '' && { description }),
      ...(parent !== null && { parent }),
      ...(projects.length > 0 && { projects: [...projects].sort() }),
      ...(await exportTargets(database, { kind: 'group', name })),
    }
    groups.push([name, names.hidden(['groups', name], own, false)])
  }
  const isOn = await arePersonalViewsOn(database)
  return {
    ...(groups.length > 0 && { groups: Object.fromEntries(groups.sort(([one], [other]) => (one < other ? -1 : 1))) }),
    ...(!isOn && { personalViews: false }),
  }
}
