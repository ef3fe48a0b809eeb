import { repos } from '../../../domain/code.ts'
import { boardRepos } from '../../../domain/crossdomain.ts'
import { cicdScopes } from '../../../domain/devops.ts'
import { boards } from '../../../domain/ticket.ts'
import { entity, projects } from '../kit.ts'

/** A project is a repository, a board and a scope of pipelines, all with the same id. */
export default entity(projects, {
  label: 'Projects',
  domainTypes: ['CODE', 'TICKET', 'CICD', 'CODEREVIEW', 'CROSS'],
  convert: {
    to: [repos, boards, boardRepos, cicdScopes],
    where: ({ gitlab_id }) => ({ gitlab_id }),
    rows: (project, { idOf }) => {
      const id = idOf(projects, project.gitlab_id)
      const { path_with_namespace: name, web_url: url, description, created_date, updated_date } = project
      const forked_from = project.forked_from_project_web_url
      return [
        repos.row({ id, name, url, description, forked_from, created_date, updated_date }),
        boards.row({ id, name, url, description, created_date }),
        boardRepos.row({ board_id: id, repo_id: id }),
        cicdScopes.row({ id, name, url, description, created_date, updated_date }),
      ]
    },
  },
})
