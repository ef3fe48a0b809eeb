/** Makes the groups, the targets and the switch of personal views the same as in a file. */

import { shortName } from '../basics/nearest.ts'
import { readGroupTree } from '../control-plane/groups/group-tree.ts'
import { createGroup, getGroup, updateGroup } from '../control-plane/groups/groups.ts'
import { ownTargets, setTarget, type TargetOwner } from '../control-plane/groups/targets.ts'
import { arePersonalViewsOn, switchPersonalViews } from '../control-plane/people/personal-views.ts'
import { change } from './change.ts'
import type { Path } from './config-file.ts'
import type { Reconciling } from './context.ts'
import type { ConfigDocument, GroupConfig } from './document.ts'
import { saveTemplates } from './stored-templates.ts'

type Targets = Readonly<Record<string, number>>

export async function reconcileGroups(reconciling: Reconciling): Promise<void> {
  const { groups } = reconciling.config.document
  for (const name of parentsFirst(reconciling, groups)) {
    const path = ['groups', name]
    const group = groups[name] as GroupConfig
    await reconciling.config.file.at(path, () => reconcileGroup(reconciling, name, group))
    await reconcileTargets(reconciling, path, { kind: 'group', name }, group.targets)
    await saveTemplates(reconciling, path, group)
  }
}

/** Orders the groups of the file so that each comes after the group that contains it. */
function parentsFirst({ config: { file } }: Reconciling, groups: ConfigDocument['groups']): string[] {
  const ordered = new Set<string>()
  const known = new Map(Object.entries(groups))
  for (const name of known.keys()) {
    const way = [name]
    for (let parent = known.get(name)?.parent; parent && known.has(parent); parent = known.get(parent)?.parent) {
      if (way.includes(parent)) {
        const words = [parent, ...way.slice(way.indexOf(parent)).toReversed()].map(shortName).join(' contains ')
        throw file.refusal(['groups', name, 'parent'], `the group ${shortName(parent)} would contain itself: ${words}.`)
      }
      way.push(parent)
    }
    for (const each of way.toReversed()) ordered.add(each)
  }
  return [...ordered]
}

async function reconcileGroup(reconciling: Reconciling, name: string, group: GroupConfig): Promise<void> {
  const { actor, database } = reconciling
  const isKnown = async () => (await readGroupTree(database.kysely)).groups.has(name)
  const { description, parent, projects } = group
  const wanted = { description, parent, projects: [...new Set(projects)].sort() }
  await change(reconciling, {
    subject: `group ${name}`,
    async read() {
      if (!(await isKnown())) return undefined
      const stored = await getGroup(database, name)
      return { description: stored.description, parent: stored.parent, projects: [...stored.projects].sort() }
    },
    write: async () =>
      (await isKnown())
        ? updateGroup(database, name, wanted, undefined, actor)
        : createGroup(database, { name, ...wanted }, actor),
  })
}

/** A file that does not speak of targets leaves them as they are. */
export async function reconcileTargets(
  reconciling: Reconciling,
  path: Path,
  owner: TargetOwner,
  targets: Targets | undefined,
): Promise<void> {
  if (targets === undefined) return
  const { actor, config, database } = reconciling
  const stored = async () =>
    Object.fromEntries((await ownTargets(database, owner)).map(({ metric, value }) => [metric, value]))
  await change(reconciling, {
    subject: `targets of ${owner.kind} ${owner.name}`,
    read: stored,
    async write() {
      const gone = Object.keys(await stored()).filter((metric) => !Object.hasOwn(targets, metric))
      for (const metric of gone) await setTarget(database, owner, { metric, value: null }, actor)
      for (const [metric, value] of Object.entries(targets)) {
        await config.file.at([...path, 'targets', metric], () => setTarget(database, owner, { metric, value }, actor))
      }
    },
  })
}

export async function reconcilePersonalViews(reconciling: Reconciling): Promise<void> {
  const { actor, config, database } = reconciling
  const { personalViews } = config.document
  if (personalViews === undefined) return
  await change(reconciling, {
    subject: 'personal views',
    read: async () => ({ personalViews: (await arePersonalViewsOn(database)) ? 'on' : 'off' }),
    write: () => switchPersonalViews(database, personalViews, actor),
  })
}
