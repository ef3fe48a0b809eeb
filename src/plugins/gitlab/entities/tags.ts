import { boolean, key, string, text } from '../../../database/table.ts'
import { entity, inProject, PAGE, table } from '../kit.ts'

/** As in DevLake, the key is only connection and name, so projects share tags. Refs for each project are collected only from git. */
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
