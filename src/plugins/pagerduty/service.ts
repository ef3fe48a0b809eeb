import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'

/** A service may have been renamed since it was added. */
export const collectService: ExtraStep = {
  name: 'collectService',
  domainTypes: ['TICKET', 'CROSS'],
  async run(task, client) {
    const { id } = task.context.scope
    // The incidents of a deleted service can still be read.
    const { status, body } = await client.send({ path: `services/${id}`, accept: [404] }, task.signal)
    if (status !== 200 || body?.service?.id !== id) return 0
    await refreshScope(task, { name: body.service.name ?? body.service.summary, url: body.service.html_url ?? '' })
    return 1
  },
}
