import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'

/** A service may have been renamed since it was added. */
export const collectService: ExtraStep = {
  name: 'collectService',
  domainTypes: ['TICKET', 'CROSS'],
  async run(task, client) {
    const { id } = task.context.scope
    // The incidents of a deleted service can still be read.
    const { status, body } = await client.send({ path: `v1/services/${id}`, accept: [404] }, task.signal)
    const service = body?.data
    if (status !== 200 || service?.id !== id) return 0
    await refreshScope(task, { name: service.name, url: service.links?.web ?? '', team_id: service.teamId ?? '' })
    return 1
  },
}
