import { boolean, key, string, text } from '../../../database/table.ts'
import { entity, inProject, PAGE, table } from '../kit.ts'

/** DevLake keys them by connection and name alone, so that projects share them; only git tells refs by project. */
const tags = table('tags', 'GitlabTag', {
  name: key(string(60)),
  message: text(),
  target: string(),
  protected: boolean(),
  release_description: text('release.description'),
})

export default entity(tags, {
  label: 'Tags',
  domainTypes: ['CODE'],
  off: ['collect', 'extract'],
  raw: 'gitlab_api_tag',
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'repository/tags') }),
    paging: PAGE,
    key: ({ name }) => name,
    emptyOn: [404], // no repository
  },
})
