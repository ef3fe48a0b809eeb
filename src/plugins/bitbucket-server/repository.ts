import { type ExtraStep, refreshScope } from '../../plugin-kit/index.ts'
import { repoPath } from './kit.ts'
import { scopeOf } from './remote-scopes.ts'

/** Updates the scope, because the description of a repository may have changed since it was added. */
export const collectRepository: ExtraStep = {
  name: 'collectRepository',
  domainTypes: ['CODE', 'CODEREVIEW', 'CROSS'],
  async run(task, client) {
    // If it is deleted, the collectors of its data report that.
    const { status, body } = await client.send(
      { path: repoPath(task.context.scope), accept: [401, 403, 404] },
      task.signal,
    )
    if (status !== 200 || !body?.project) return 0
    const { name, HTMLUrl, description, cloneUrl } = scopeOf(body)
    await refreshScope(task, { name, html_url: HTMLUrl, description, clone_url: cloneUrl })
    return 1
  },
}
