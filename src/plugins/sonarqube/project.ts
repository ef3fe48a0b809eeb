import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'

export const projectRequest = (projectKey: string) => ({ path: 'components/show', query: { component: projectKey } })

/** Updates the scope with the date and the commit of the latest analysis, and with its name, which may have changed. */
export const collectProject: ExtraStep = {
  name: 'CollectProject',
  domainTypes: ['CODEQUALITY'],
  async run(task, client) {
    const { project_key } = task.context.scope
    if (!project_key) return 0
    // If it is deleted, the collectors of its data report that.
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
