import { repos as domainRepos } from '../../../domain/code.ts'
import { cicdScopes } from '../../../domain/devops.ts'
import { boards } from '../../../domain/ticket.ts'
import { entity, isBoard, isNative, repos } from '../kit.ts'

/** The code of a repository at another host is collected through a connection to that host. Here it has only builds. */
export default entity(repos, {
  label: 'Repo',
  domainTypes: ['CODE', 'TICKET', 'CICD', 'CODEREVIEW', 'CROSS'],
  convert: {
    to: [domainRepos, cicdScopes, boards],
    where: ({ id }) => ({ id }),
    rows: (repo, { idOf }) => {
      const id = idOf(repos, repo.id)
      const { url, project_id } = repo
      if (isBoard(repo)) return [boards.row({ id, name: project_id, url })]
      const name = `${project_id}/${repo.name}`
      const scope = cicdScopes.row({ id, name, url })
      return isNative(repo) ? [domainRepos.row({ id, name, url }), scope] : [scope]
    },
  },
})
