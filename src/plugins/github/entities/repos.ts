import { repos as domainRepos } from '../../../domain/code.ts'
import { boardRepos } from '../../../domain/crossdomain.ts'
import { cicdScopes } from '../../../domain/devops.ts'
import { boards } from '../../../domain/ticket.ts'
import { entity, repos } from '../kit.ts'

/** A repository is also a board and a scope of pipelines, all with the same id. */
export default entity(repos, {
  label: 'Repos',
  domainTypes: ['CODE', 'TICKET', 'CICD', 'CODEREVIEW', 'CROSS'],
  convert: {
    to: [domainRepos, boards, boardRepos, cicdScopes],
    where: ({ github_id }) => ({ github_id }),
    rows: (repo, { idOf }) => {
      const id = idOf(repos, repo.github_id)
      const { full_name: name, html_url: url, description, created_date, updated_date } = repo
      return [
        domainRepos.row({
          id,
          name,
          url,
          description,
          language: repo.language,
          forked_from: repo.parent_html_url,
          created_date,
          updated_date,
        }),
        boards.row({ id, name, description, url: `${url}/issues`, created_date }),
        boardRepos.row({ board_id: id, repo_id: id }),
        cicdScopes.row({ id, name, description, url, created_date, updated_date }),
      ]
    },
  },
})
