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
    where: ({ bitbucket_id }) => ({ bitbucket_id }),
    rows: (repo, { idOf }) => {
      const id = idOf(repos, repo.bitbucket_id)
      const { bitbucket_id: name, html_url, description, language, created_date, updated_date } = repo
      const issuesUrl = `${html_url}/issues`
      return [
        domainRepos.row({ id, name, url: html_url, description, language, created_date, updated_date }),
        boards.row({ id, name, url: issuesUrl, description, created_date }),
        boardRepos.row({ board_id: id, repo_id: id }),
        // As in DevLake, the address of the issues.
        cicdScopes.row({ id, name, url: issuesUrl, description, created_date, updated_date }),
      ]
    },
  },
})
