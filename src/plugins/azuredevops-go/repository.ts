import type { RawRecord } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { type ExtraStep, knowing, refreshScope, type ScopeCheck, type SourceTask } from '../../plugin-kit/index.ts'
import { inOrganization, inProject, isBoard, isNative, type Repo, repos, versioned } from './kit.ts'

/** Updates the scope, because a repository or its project may have been renamed. Azure DevOps finds both by their ids. */
export const collectRepository: ExtraStep = {
  name: 'collectRepo',
  domainTypes: ['CODE', 'TICKET', 'CICD', 'CODEREVIEW', 'CROSS'],
  async run(task, client) {
    const { scope } = task.context
    await requireOneConnection(task)
    // A task whose options name the project of its scope keeps that.
    if (task.options.projectId || (!isNative(scope) && !isBoard(scope))) return 0
    const path = isBoard(scope) ? `projects/${scope.id}` : `git/repositories/${scope.id}`
    // If it is deleted, the collectors of its data report that.
    const request = { ...versioned(inOrganization(scope.organization_id, path)), accept: [404] }
    const { status, body } = await client.send(request, task.signal)
    if (status !== 200 || body?.id !== scope.id) return 0
    const project = isBoard(scope) ? body : body.project
    if (typeof project?.name !== 'string') return 0
    await refreshScope(task, {
      name: body.name,
      project_id: project.name,
      ...(!isBoard(scope) && { url: body.webUrl ?? scope.url, remote_url: body.remoteUrl ?? scope.remote_url }),
    })
    return 1
  },
}

/** DevLake's raw rows do not contain the connection. If two connections had the same scope, one would find its work already done. */
async function requireOneConnection({ database, context: { connectionId, scope } }: SourceTask): Promise<void> {
  const [other] = await knowing(database.kysely, repos)
    .selectFrom(repos.name)
    .select('connection_id')
    .where('id', '=', scope.id)
    .where('connection_id', '<', connectionId)
    .execute()
  if (!other) return
  throw new UserError(
    `${scope.name} is also a scope of connection ${other.connection_id}: remove it there or here, since its data can be of one connection only.`,
  )
}

const DISABLED =
  'The repository is disabled: what was collected of it is kept. Enable it in the settings of the project, Repositories, or remove it from the project of Weir.'

/** A cheap request that shows whether a scope still exists. A disabled repository appears only in the list. */
export function scopeCheck({ id, type, organization_id, project_id }: Repo): ScopeCheck {
  const place = { organization_id, project_id }
  if (!isNative({ type })) {
    const project = isBoard({ type }) ? id : encodeURIComponent(project_id)
    return versioned(inOrganization(organization_id, `projects/${project}`))
  }
  return {
    ...versioned(inProject(place, 'git/repositories')),
    finds(body) {
      const found = (body?.value as readonly RawRecord[] | undefined)?.find((each) => each.id === id)
      return { isThere: found !== undefined, ...(found?.isDisabled && { remark: DISABLED }) }
    },
  }
}
