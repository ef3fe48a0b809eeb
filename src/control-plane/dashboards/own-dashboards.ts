/** Dashboards that users compose from panels of other dashboards. They are displayed like any other dashboard. */

import { z } from 'zod'
import { type Dashboard, type Panel, panelsOf, type Variable } from '../../dashboards/dashboard.ts'
import { dashboardNamed, dashboards, panelNamed } from '../../dashboards/index.ts'
import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { ownDashboards, sharedDashboards } from '../../system/dashboards.ts'
import { type Actor, recordChange } from '../audit/record.ts'
import { type Shown, shownColumns } from '../shown-columns.ts'
import { deleteRows, findRow, insertRow, publicRow, type Queries, selectRows, updateRows } from '../store.ts'
import { ChangedError, holdRow, isStale, laterThan } from '../versions.ts'

export const ownDashboardRecord = z
  .object(shownColumns(ownDashboards))
  .omit({ makerId: true })
  .extend({
    name: z.string().meta({ description: 'Its name below /v1/dashboards.' }),
    panels: z.array(z.object({ dashboard: z.string(), panel: z.string(), width: z.int() })),
  })
type OwnDashboard = Shown<typeof ownDashboardRecord>
type OwnPanel = OwnDashboard['panels'][number]
/** Throws when the user may not change a dashboard of this maker. */
type Allow = (makerId: string) => void
type OwnDashboardChanges = Partial<Pick<OwnDashboard, 'title' | 'question' | 'panels'>>

/** A panel, and the dashboard that defines the variables of its statement. */
export interface PlacedPanel {
  readonly dashboard: Dashboard
  readonly panel: Panel
}
/** A dashboard that comes with Weir, or one that a user made. */
export interface ViewedDashboard {
  readonly dashboard: Dashboard
  readonly own: Pick<OwnDashboard, 'id' | 'updatedAt'> | null
  /** Returns the panel of this name and the dashboard that it comes from. */
  placed(panel: string): PlacedPanel
}

export const OWN_GROUP = 'Your own'
const MOST = 500
const OWN_NAME = /^own-(\d{1,15})$/

function recordOf(row: RowOf<typeof ownDashboards>): OwnDashboard {
  const { makerId: _, ...shown } = publicRow(ownDashboards, row)
  return { ...shown, name: `own-${row.id}`, panels: row.panels ?? [] }
}

export const listOwnDashboards = async ({ kysely }: Database): Promise<OwnDashboard[]> =>
  (await selectRows(kysely, ownDashboards, (query) => query.orderBy('title').orderBy('id'))).map(recordOf)

const unknown = (id: number) =>
  new UserError(`There is no dashboard own-${id}: it may have been deleted.`, { status: 404 })

export async function getOwnDashboard({ kysely }: Database, id: number): Promise<OwnDashboard> {
  const row = await findRow(kysely, ownDashboards, { id })
  if (!row) throw unknown(id)
  return recordOf(row)
}

function checkPanels(panels: readonly OwnPanel[]): void {
  const names = panels.map(
    ({ dashboard, panel }) => `${panelNamed(dashboardNamed(dashboard), panel).title} of ${dashboard}`,
  )
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice) throw new UserError(`${twice} is on it twice: remove one.`)
}

export async function createOwnDashboard(
  database: Database,
  { title, question = '', panels = [] }: OwnDashboardChanges & Pick<OwnDashboard, 'title'>,
  actor: Actor,
): Promise<OwnDashboard> {
  checkPanels(panels)
  return database.transaction(async (inside) => {
    if ((await listOwnDashboards(inside)).length >= MOST) {
      throw new UserError(`There are ${MOST} dashboards of your own already: delete one that nobody looks at.`)
    }
    const row = { title, question, panels, maker_id: actor.id, maker: actor.name }
    const after = await getOwnDashboard(inside, await insertRow(inside.kysely, ownDashboards, row))
    await record(inside.kysely, actor, 'create', null, after)
    return after
  })
}

export async function updateOwnDashboard(
  database: Database,
  id: number,
  changes: OwnDashboardChanges,
  seen: Date | undefined,
  actor: Actor,
  allow: Allow,
): Promise<OwnDashboard> {
  if (changes.panels) checkPanels(changes.panels)
  return database.transaction(async (inside) => {
    const row = await holdRow(inside.kysely, ownDashboards, { id })
    if (!row) throw unknown(id)
    allow(row.maker_id)
    const before = recordOf(row)
    if (isStale(before.updatedAt, seen)) throw new ChangedError(`The dashboard ${before.title}`, before)
    await updateRows(inside.kysely, ownDashboards, { id }, { ...changes, updated_at: laterThan(before.updatedAt) })
    const after = await getOwnDashboard(inside, id)
    await record(inside.kysely, actor, 'update', before, after)
    return after
  })
}

export const removeOwnDashboard = (database: Database, id: number, actor: Actor, allow: Allow): Promise<void> =>
  database.transaction(async (inside) => {
    const row = await holdRow(inside.kysely, ownDashboards, { id })
    if (!row) throw unknown(id)
    allow(row.maker_id)
    const before = recordOf(row)
    await deleteRows(inside.kysely, ownDashboards, { id })
    await deleteRows(inside.kysely, sharedDashboards, { dashboard: before.name })
    await record(inside.kysely, actor, 'delete', before, null)
  })

const record = (
  queries: Queries,
  actor: Actor,
  action: 'create' | 'update' | 'delete',
  before: OwnDashboard | null,
  after: OwnDashboard | null,
) =>
  recordChange(queries, actor, { action, subject: 'own dashboard', key: (after ?? before)?.name ?? '', before, after })

export async function findDashboard(database: Database, name: string): Promise<ViewedDashboard> {
  const [, id] = OWN_NAME.exec(name) ?? []
  if (id !== undefined) return viewedOf(await getOwnDashboard(database, Number(id)))
  const dashboard = dashboardNamed(name)
  return { dashboard, own: null, placed: (panel) => ({ dashboard, panel: panelNamed(dashboard, panel) }) }
}

/**
 * Builds a dashboard with the variables of all dashboards that its panels come from. Panels that this version of Weir no
 * longer has are left out.
 */
function viewedOf({ id, name, title, question, panels, updatedAt }: OwnDashboard): ViewedDashboard {
  const placed = panels.flatMap(({ dashboard: from, panel: panelName, width }) => {
    const dashboard = dashboards.find((each) => each.name === from)
    const panel = dashboard && panelsOf(dashboard).find((each) => each.name === panelName)
    return panel ? [{ dashboard, panel: { ...panel, name: `${from}.${panelName}`, width } }] : []
  })
  const variables = new Map<string, Variable>()
  for (const variable of placed.flatMap(({ dashboard }) => dashboard.variables)) {
    if (!variables.has(variable.name)) variables.set(variable.name, variable)
  }
  const dashboard: Dashboard = {
    name,
    title,
    question,
    group: OWN_GROUP,
    variables: [...variables.values()],
    sections: [{ panels: placed.map(({ panel }) => panel) }],
  }
  return {
    dashboard,
    own: { id, updatedAt },
    placed: (panelName) => {
      const panel = panelNamed(dashboard, panelName)
      return placed.find((each) => each.panel === panel) as PlacedPanel
    },
  }
}
