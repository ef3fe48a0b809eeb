import type { RawRecord } from '../../database/table.ts'
import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'
import { applicationRequest, isApplication, mainSource, sourcesOf, timeOf } from './kit.ts'

/** Returns the values of an application from the API, by the names of our columns. */
export function applicationValues({ metadata, spec, status }: RawRecord) {
  const source = mainSource(sourcesOf(spec ?? {}))
  return {
    namespace: metadata?.namespace ?? '',
    project: spec?.project || 'default',
    repo_url: source.repoURL ?? '',
    path: source.path ?? source.chart ?? '',
    target_revision: source.targetRevision ?? '',
    dest_server: spec?.destination?.server ?? '',
    dest_name: spec?.destination?.name ?? '',
    dest_namespace: spec?.destination?.namespace ?? '',
    sync_status: status?.sync?.status ?? '',
    health_status: status?.health?.status ?? '',
    created_date: timeOf(metadata?.creationTimestamp),
    summary_images: status?.summary?.images ?? null,
  }
}

const REFUSED = [403, 404]

/** Updates the scope, because the destination and the sources of an application may have changed since it was added. */
export const collectApplication: ExtraStep = {
  name: 'collectApplications',
  domainTypes: ['CICD'],
  async run(task, client) {
    const { name } = task.context.scope
    // A deleted application is reported by the collector of its syncs.
    const { status, body } = await client.send({ ...applicationRequest(name), accept: REFUSED }, task.signal)
    if (status !== 200 || !isApplication(body, name)) return 0
    const values = applicationValues(body)
    if (values.dest_server && !values.dest_name) {
      const query = { server: values.dest_server }
      // Clusters that the account may not see are missing from the list.
      const answer = await client.send({ path: 'clusters', query, accept: REFUSED }, task.signal)
      const listed: readonly RawRecord[] = (answer.status === 200 && answer.body?.items) || []
      const cluster = listed.find(({ server }) => server === values.dest_server)
      values.dest_name = cluster?.name ?? ''
    }
    await refreshScope(task, values)
    return 1
  },
}
