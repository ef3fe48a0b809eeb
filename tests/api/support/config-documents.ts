/** Compares configuration files, by normalising settings that can be written in several ways. */
import { parse, stringify } from 'yaml'
import type { ConfigDocument } from '../../../src/config-as-code/document.ts'

/** Returns the file with only these projects. */
export const restricted = (file: string, names: readonly string[]): string => {
  const { projects, groups, ...rest } = parse(file)
  const within = (group: { readonly projects?: readonly string[] }) =>
    group.projects ? { ...group, projects: group.projects.filter((name) => names.includes(name)) } : group
  return stringify({
    ...rest,
    groups: Object.fromEntries(Object.entries<object>(groups).map(([name, group]) => [name, within(group)])),
    projects: Object.fromEntries(Object.entries(projects).filter(([name]) => names.includes(name))),
  })
}

/** Returns the parts of a document that another document also names. */
export const onlyNamed = (
  { fields, connections, projects, groups }: ConfigDocument,
  named: ConfigDocument,
): ConfigDocument => ({
  fields: picked(fields, named.fields, (columns, own) => picked(columns, own, (column) => column)),
  connections: picked(connections, named.connections, (byName, own) =>
    picked(byName, own, (settings, its) => ({
      ...settings,
      scopeConfigs: picked(settings.scopeConfigs, its.scopeConfigs, (rules) => rules),
    })),
  ),
  projects: picked(projects, named.projects, (project) => project),
  groups: picked(groups, named.groups, (group) => group),
})
const picked = <Item, Other, Result>(
  all: Readonly<Record<string, Item>>,
  named: Readonly<Record<string, Other>>,
  body: (item: Item, other: Other) => Result,
): Record<string, Result> =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, item]) =>
      Object.hasOwn(named, name) ? [[name, body(item, named[name] as Other)]] : [],
    ),
  )

const isNothing = (value: unknown) =>
  [undefined, null, '', 0, false].includes(value as never) || (Array.isArray(value) && value.length === 0)
const without = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => !isNothing(value)))
const stages = (plan: readonly any[]) =>
  (plan.every(Array.isArray) ? plan : [plan]).map((stage) =>
    stage.map(({ plugin, subtasks, options }: any) => ({ plugin, subtasks: subtasks ?? [], options: options ?? {} })),
  )

/** Converts settings that can be written in several ways to one form. */
export function normalised(
  { fields, connections, projects, groups }: ConfigDocument,
  kept = new Map<string, any>(),
): any {
  const nonEmpty = <Item>(all: Record<string, Item>) =>
    Object.fromEntries(Object.entries(all).filter(([, each]) => Object.keys(each as object).length > 0))
  return {
    groups: picked(groups, groups, ({ projects: own, ...rest }) =>
      without({ ...rest, targets: null, projects: [...new Set(own)].sort() }),
    ),
    fields: nonEmpty(fields),
    connections: nonEmpty(
      picked(connections, connections, (byName) =>
        picked(byName, byName, ({ scopeConfigs, ...settings }) => ({
          ...without({ ...settings, rateLimitPerHour: Number(settings.rateLimitPerHour ?? 0) }),
          scopeConfigs: picked(scopeConfigs, scopeConfigs, (rules: any) =>
            without({
              ...rules,
              issueTypeBug: rules.issueTypeBug && String(rules.issueTypeBug),
              prSizeExcludedFileExtensions: [rules.prSizeExcludedFileExtensions ?? []].flat(),
            }),
          ),
        })),
      ),
    ),
    projects: Object.fromEntries(
      Object.entries(projects).map(([name, project]) => {
        const own: any = { ...project, ...kept.get(name) }
        return [
          name,
          {
            ...without({ ...own, timeAfter: null, targets: null, metrics: null, schedule: null, collect: null }),
            ...Object.fromEntries(
              ['plan', 'beforePlan', 'afterPlan'].flatMap((field) => (own[field] ? [[field, stages(own[field])]] : [])),
            ),
            metrics: own.metrics
              .map((each: any) => (typeof each === 'string' ? { [each]: {} } : each))
              .sort((one: any, another: any) => (Object.keys(one)[0]! < Object.keys(another)[0]! ? -1 : 1)),
            schedule: own.schedule.trim(),
            labels: [...new Set(own.labels)].sort(),
            collect: own.plan
              ? []
              : Object.values(Object.groupBy(own.collect, ({ connection }: any) => connection))
                  .flat()
                  .map((each: any) => without(each))
                  .sort((one: any, another: any) =>
                    one.connection < another.connection ? -1 : one.connection > another.connection ? 1 : 0,
                  ),
          },
        ]
      }),
    ),
  }
}
