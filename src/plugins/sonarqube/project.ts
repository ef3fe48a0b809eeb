import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'

export const projectRequest = (projectKey: string) => ({ path: 'components/show', query: { component: projectKey } })

/** When a project was analysed last, and of which commit; it may also have been renamed since it was added. */
export const collectProject: ExtraStep = {
  name: 'CollectProject',
  domainTypes: ['CODEQUALITY'],
  async run(task, client) {
    const { project_key } = task.context.scope
    if (!project_key) return 0
    // One that is gone is told by whoever collects from it.
    const shown = await client.send({ ...projectRequest(project_key), accept: [404] }, task.signal)
    if (shown.status !== 200 || shown.body?.component?.key !== project_key) return 0
    const { name, qualifier = '', visibility = '', analysisDate } = shown.body.component
    const query = { project: project_key, ps: 1 }
    const { body } = await client.send({ path: 'project_analyses/search', query, accept: [403, 404] }, task.signal)
    const [latest] = body?.analyses ?? []
    const analysed = analysisDate ?? latest?.date
    await refreshScope(task, {
      name,
      qualifier,
      visibility,
      last_analysis_date: analysed ? new Date(analysed) : null,
      ...(latest?.revision && { revision: latest.revision }),
    })
    return 1
  },
}
