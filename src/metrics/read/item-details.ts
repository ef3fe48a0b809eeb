/** Details of an item that people want to see beside its number: names, the commit of a SHA, and which deployment caused which incident. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import { blameOf } from '../blame.ts'
import { type Item, type Metric, type MetricFilter, TABLE_OF } from '../metric.ts'
import { withNames } from '../names.ts'
import { isOfService } from '../parts.ts'

/** The deployment of an incident, or an incident of a deployment. */
interface Linked {
  readonly table: string
  readonly id: string
  readonly title: string
  readonly url: string
}
export interface DetailedItem extends Item {
  readonly repositoryName: string | null
  readonly accountName: string | null
  /** For a deployment: its commit, with the first line of the message. */
  readonly commit: { readonly sha: string; readonly title: string } | null
  /** For a deployment: the incidents that are attributed to it. */
  readonly incidents: readonly Linked[]
  /** For an incident: the deployment that it is attributed to. */
  readonly deployment: Linked | null
  /** For an incident: whether it is resolved. Null for everything else. */
  readonly isResolved: boolean | null
}

export async function withDetails(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
  items: readonly Item[],
): Promise<DetailedItem[]> {
  const idsOf = (kind: Item['kind']) => items.flatMap((item) => (item.kind === kind ? [item.id] : []))
  const attributes = metric.madeOf.includes('incidents') && !isOfService(metric, filter)
  const pairs = attributes ? await pairsOf(database, filter, items) : []
  const deployments = await deploymentsNamed(database, [
    ...idsOf('deployment'),
    ...pairs.map(({ deployment_id }) => deployment_id),
  ])
  const incidents = await incidentsNamed(database, [
    ...idsOf('incident'),
    ...pairs.map(({ incident_id }) => incident_id),
  ])
  const ledTo = Map.groupBy(pairs, ({ deployment_id }) => deployment_id)
  const cameFrom = new Map(pairs.map(({ incident_id, deployment_id }) => [incident_id, deployment_id]))
  return (await withNames(database, items)).map((item) => {
    const deployment = item.kind === 'deployment' ? deployments.get(item.id) : undefined
    const incident = item.kind === 'incident' ? incidents.get(item.id) : undefined
    const cause = incident && deployments.get(cameFrom.get(item.id) ?? '')
    return {
      ...item,
      repositoryName: item.repositoryName ?? deployment?.repository ?? null,
      commit: deployment?.commit ?? null,
      incidents: deployment
        ? (ledTo.get(item.id) ?? []).flatMap(({ incident_id }) => incidents.get(incident_id)?.linked ?? [])
        : [],
      deployment: cause?.linked ?? null,
      isResolved: incident ? incident.isResolved : null,
    }
  })
}

interface Pair {
  readonly incident_id: string
  readonly deployment_id: string
}

/** Reads the incidents and the deployments that they are attributed to, where at least one of the two is among the items. */
async function pairsOf(database: Database, filter: MetricFilter, items: readonly Item[]): Promise<Pair[]> {
  const { dialect, kysely } = database
  const asked = items.filter(({ kind }) => kind === 'deployment' || kind === 'incident')
  if (asked.length === 0) return []
  const blame = blameOf({ ...filter, dialect })
  const byKind = await Promise.all(
    (['deployment', 'incident'] as const).map((kind) => {
      const ids = asked.flatMap((item) => (item.kind === kind ? [item.id] : []))
      const column = sql.ref(`blamed.${kind}_id`)
      return readByKeys(ids, async (piece) => {
        const some = sql<Pair>`select distinct blamed.incident_id, blamed.deployment_id from (${blame}) blamed
          where ${among(column, piece)} order by blamed.incident_id, blamed.deployment_id`
        return (await some.execute(kysely)).rows
      })
    }),
  )
  return [...new Map(byKind.flat().map((pair) => [`${pair.incident_id} ${pair.deployment_id}`, pair])).values()]
}

interface DeploymentName {
  readonly linked: Linked
  readonly repository: string | null
  readonly commit: DetailedItem['commit']
}

async function deploymentsNamed(
  { kysely }: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeploymentName>> {
  const rows = await readByKeys(ids, async (piece) => {
    const some = sql<Record<'id' | 'title' | 'url' | 'sha' | 'message' | 'repository' | 'address', string | null>>`
      select c.cicd_deployment_id as id, max(coalesce(nullif(c.display_title, ''), c.name)) as title, max(c.url) as url,
        max(c.commit_sha) as sha, max(coalesce(nullif(c.commit_msg, ''), co.message)) as message,
        max(coalesce(nullif(r.name, ''), nullif(s.name, ''))) as repository, max(c.repo_url) as address
      from cicd_deployment_commits c left join commits co on co.sha = c.commit_sha
      left join repos r on r.id = c.repo_id left join cicd_scopes s on s.id = c.cicd_scope_id
      where ${among(sql`c.cicd_deployment_id`, piece)} group by c.cicd_deployment_id`
    return (await some.execute(kysely)).rows
  })
  return new Map(
    rows.map(({ id, title, url, sha, message, repository, address }) => [
      id ?? '',
      {
        linked: linked('deployment', id, title, url),
        repository: repository || address || null,
        commit: sha ? { sha, title: firstLine(message) } : null,
      },
    ]),
  )
}

async function incidentsNamed({ kysely }: Database, ids: readonly string[]) {
  const rows = await readByKeys(ids, async (piece) => {
    const some = sql<Record<'id' | 'key' | 'title' | 'url', string | null> & { resolved: number }>`
      select i.id, i.incident_key as ${sql.id('key')}, i.title, i.url,
        case when i.resolution_date is null then 0 else 1 end as resolved
      from incidents i where ${among(sql`i.id`, piece)}`
    return (await some.execute(kysely)).rows
  })
  return new Map(
    rows.map(({ id, key, title, url, resolved }) => [
      id ?? '',
      {
        linked: linked('incident', id, [key, title].filter(Boolean).join(' '), url),
        isResolved: Number(resolved) === 1,
      },
    ]),
  )
}

const linked = (
  kind: 'deployment' | 'incident',
  id: string | null,
  title: string | null,
  url: string | null,
): Linked => ({
  table: TABLE_OF[kind],
  id: id ?? '',
  title: firstLine(title) || (id ?? ''),
  url: url ?? '',
})

const firstLine = (text: string | null): string => text?.trim().split('\n')[0]?.trim() ?? ''
