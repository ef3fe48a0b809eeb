import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'
import { scopeOf } from './remote-scopes.ts'

/** Updates the scope, because a repository may have got another description or name. Bitbucket redirects from the old name to the new one. */
export const collectRepository: ExtraStep = {
  name: 'Collect Repository',
  domainTypes: ['CODE', 'TICKET', 'CICD', 'CODEREVIEW', 'CROSS'],
  async run(task, client) {
    const { bitbucket_id } = task.context.scope
    // If it is deleted, the collectors of its data report that.
    const { status, body } = await client.send(
      { path: `repositories/${bitbucket_id}`, accept: [403, 404] },
      task.signal,
    )
    if (status !== 200 || typeof body?.full_name !== 'string') return 0
    const { name, HTMLUrl, description, owner, language, cloneUrl, updatedDate } = scopeOf(body)
    await refreshScope(task, {
      name,
      html_url: HTMLUrl,
      description,
      owner,
      language,
      clone_url: cloneUrl,
      updated_date: updatedDate ? new Date(updatedDate) : null,
    })
    return 1
  },
}
