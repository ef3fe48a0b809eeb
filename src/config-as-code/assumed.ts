import { rulesOf } from '../control-plane/plan/assumptions.ts'
import type { Assumption } from '../control-plane/records.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import type { ConfigDocument } from './document.ts'

/** What holds for scopes that the file gives no scope config: a plan tells it before anything is collected. */
export const assumptionsIn = ({ projects }: ConfigDocument, plugins: readonly Plugin[]): Assumption[] =>
  Object.entries(projects).flatMap(([project, { collect }]) =>
    collect.flatMap(({ connection, scopes, scopeConfig }) => {
      const source = plugins.find(({ name }) => connection.startsWith(`${name}/`))?.source
      const rules = source && scopeConfig === undefined ? rulesOf(source) : []
      const names = scopes.map((each) =>
        typeof each === 'string' ? each : String(each.fullName ?? each.name ?? 'one'),
      )
      return rules.length === 0
        ? []
        : [{ subject: `${names.join(', ')} of ${connection} in project ${project}`, rules }]
    }),
  )
