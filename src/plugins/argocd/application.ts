import type { RawRecord } from '../../database/table.ts'
import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'
import { applicationRequest, isApplication, mainSource, sourcesOf, timeOf } from './kit.ts'

/** An application as the API gives it, by the names of the columns. */
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

/** Where it is deployed, and what it is deployed from, may have changed since it was added. */
export const collectApplication: ExtraStep = {
  name: 'collectApplications',
  domainTypes: ['CICD'],
  async run(task, client) {
    const { name } = task.context.scope
    // One that is gone is told by whoever collects its syncs.
    const { status, body } = await client.send({ ...applicationRequest(name), accept: REFUSED }, task.signal)
    if (status !== 200 || !isApplication(body, name)) return 0
    const values = applicationValues(body)
    if (values.dest_server && !values.dest_name) {
      const query = { server: values.dest_server }
      // What the account may not see is left out of the list.
      const answer = await client.send({ path: 'clusters', query, accept: REFUSED }, task.signal)
      const listed: readonly RawRecord[] = (answer.status === 200 && answer.body?.items) || []
      const cluster = listed.find(({ server }) => server === values.dest_server)
      values.dest_name = cluster?.name ?? ''
    }
    await refreshScope(task, values)
    return 1
  },
}
