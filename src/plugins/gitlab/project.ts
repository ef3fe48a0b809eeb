import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'

/** Updates the scope by its id, because a project may have been renamed, moved or archived since it was added. */
export const collectProject: ExtraStep = {
  name: 'Collect Project',
  domainTypes: ['CODE', 'TICKET', 'CICD', 'CODEREVIEW', 'CROSS'],
  async run(task, client) {
    const { gitlab_id } = task.context.scope
    // If it is deleted, the collectors of its data report that.
    const { status, body } = await client.send({ path: `/projects/${gitlab_id}`, accept: [404] }, task.signal)
    if (status !== 200 || body?.id !== gitlab_id) return 0
    await refreshScope(task, {
      name: body.name,
      description: body.description ?? '',
      default_branch: body.default_branch ?? '',
      path_with_namespace: body.path_with_namespace,
      web_url: body.web_url,
      visibility: body.visibility ?? '',
      http_url_to_repo: body.http_url_to_repo ?? '',
      forked_from_project_id: body.forked_from_project?.id ?? 0,
      forked_from_project_web_url: body.forked_from_project?.web_url ?? '',
      open_issues_count: body.open_issues_count ?? 0,
      star_count: body.star_count ?? 0,
      updated_date: body.last_activity_at ? new Date(body.last_activity_at) : null,
      archived: body.archived ?? false,
    })
    return 1
  },
}
