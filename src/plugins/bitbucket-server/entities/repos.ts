import { repos as domainRepos } from '../../../domain/code.ts'
import { entity, repos } from '../kit.ts'

/** DevLake also writes a board and a scope for builds, although Bitbucket Data Center reports neither issues nor builds. */
export default entity(repos, {
  label: 'Repo',
  domainTypes: ['CODE', 'CODEREVIEW', 'CROSS'],
  convert: {
    to: [domainRepos],
    where: ({ bitbucket_id }) => ({ bitbucket_id }),
    rows: ({ bitbucket_id, html_url, description, created_date, updated_date }, { idOf }) => [
      domainRepos.row({
        id: idOf(repos, bitbucket_id),
        name: bitbucket_id,
        url: html_url,
        description,
        created_date,
        updated_date,
      }),
    ],
  },
})
