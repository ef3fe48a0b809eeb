import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'

/** Updates the scope by its id, because a repository may have been renamed or moved since it was added. */
export const collectRepository: ExtraStep = {
  name: 'Collect Repository',
  domainTypes: ['CODE', 'TICKET', 'CICD', 'CODEREVIEW', 'CROSS'],
  async run(task, client) {
    const { github_id } = task.context.scope
    if (!github_id) return 0
    // If it is deleted, the collectors of its data report that.
    const request = { path: `/repositories/${github_id}`, accept: [404] }
    const { status, body } = await client.send(request, task.signal)
    if (status !== 200 || body?.id !== github_id) return 0
    await refreshScope(task, {
      name: body.name,
      full_name: body.full_name,
      html_url: body.html_url,
      description: body.description ?? '',
      language: body.language ?? '',
      clone_url: body.clone_url,
      parent_github_id: body.parent?.id ?? 0,
      parent_html_url: body.parent?.html_url ?? '',
      updated_date: new Date(body.updated_at),
    })
    return 1
  },
}
