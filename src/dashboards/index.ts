/** Every dashboard, in the order in which they are listed. */
import { unknownName } from '../nearest.ts'
import { type Dashboard, type Panel, panelsOf, type Variable } from './dashboard.ts'
import { dora } from './definitions/dora.ts'

export const dashboards: readonly Dashboard[] = [dora]

const named = <Thing extends { readonly name: string }>(
  kind: string,
  name: string,
  things: readonly Thing[],
): Thing => {
  const thing = things.find((each) => each.name === name)
  if (thing) return thing
  throw unknownName(
    kind,
    name,
    things.map((each) => each.name),
  )
}

export const dashboardNamed = (name: string): Dashboard => named('dashboard', name, dashboards)
export const panelNamed = (dashboard: Dashboard, name: string): Panel => named('panel', name, panelsOf(dashboard))
export const variableNamed = ({ variables }: Dashboard, name: string): Variable => named('variable', name, variables)
