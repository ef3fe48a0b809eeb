import { definePlugin } from '../../plugin-kit/define-plugin.ts'
import accounts from './entities/accounts.ts'
import boardEntity from './entities/boards.ts'
import changelogs from './entities/changelogs.ts'
import comments from './entities/comments.ts'
import developmentPanel from './entities/development-panel.ts'
import epics from './entities/epics.ts'
import issueCommits from './entities/issue-commits.ts'
import issueFields from './entities/issue-fields.ts'
import issueRepoCommits from './entities/issue-repo-commits.ts'
import issueTypes from './entities/issue-types.ts'
import issues from './entities/issues.ts'
import labels from './entities/labels.ts'
import projects from './entities/projects.ts'
import relationships from './entities/relationships.ts'
import remotelinks from './entities/remotelinks.ts'
import sprintIssues from './entities/sprint-issues.ts'
import sprints from './entities/sprints.ts'
import statuses from './entities/statuses.ts'
import worklogs from './entities/worklogs.ts'
import { boards, paramsOf, probe } from './kit.ts'
import { issueRules } from './rules.ts'

const isToken = (authMethod: string) => authMethod === 'AccessToken'

export const jira = definePlugin({
  name: 'jira',
  title: 'Jira',
  spelling: 'camel',
  connection: {
    endpoint: '',
    fields: {
      endpoint: { kind: 'url', label: 'Endpoint', help: 'Ends in /rest/, as https://example.atlassian.net/rest/.' },
      authMethod: {
        kind: 'choice',
        label: 'Login',
        choices: ['BasicAuth', 'AccessToken'],
        default: 'BasicAuth',
        size: 20,
      },
      username: { kind: 'string', label: 'User name', help: 'On Cloud the e-mail address.', isOptional: true },
      password: { kind: 'secret', label: 'Password', help: 'On Cloud an API token.', isOptional: true },
      token: { kind: 'secret', label: 'Personal access token', isOptional: true },
      proxy: { kind: 'url', label: 'Proxy', isOptional: true },
      rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
    },
    credentials: ({ authMethod, username, password, token }) =>
      isToken(authMethod) ? [String(token)] : [Buffer.from(`${username}:${password}`).toString('base64')],
    sign: (credential, { authMethod }) => ({
      authorization: `${isToken(authMethod) ? 'Bearer' : 'Basic'} ${credential}`,
    }),
    test: { path: 'api/2/myself' },
    probe,
  },
  scope: { table: boards, title: 'Board', options: { boardId: 'board_id' }, params: paramsOf },
  scopeConfig: {
    fields: {
      typeMappings: { kind: 'json', label: 'Issue types and statuses', isOptional: true },
      storyPointField: { kind: 'string', label: 'Field with story points', size: 255, isOptional: true },
      dueDateField: { kind: 'string', label: 'Field with the due date', size: 255, isOptional: true },
      // Stored for clients that know it; Jira itself says which epic an issue belongs to.
      epicKeyField: { kind: 'string', label: 'Field with the epic', size: 255, isOptional: true },
      applicationType: {
        kind: 'string',
        label: 'Source of commits in the development panel',
        help: 'Such as GitLab or bitbucket; when set, remote links are not collected.',
        size: 255,
        isOptional: true,
      },
      remotelinkCommitShaPattern: { kind: 'regex', label: 'Commits in remote links', size: 255, isOptional: true },
      remotelinkRepoPattern: { kind: 'json', label: 'Repositories in remote links', isOptional: true },
    },
    prepare: issueRules,
  },
  entities: [
    issueFields,
    statuses,
    projects,
    issueTypes,
    issues,
    labels,
    comments,
    changelogs,
    worklogs,
    remotelinks,
    sprints,
    epics,
    boardEntity,
    relationships,
    sprintIssues,
    developmentPanel,
    issueCommits,
    issueRepoCommits,
    accounts,
  ],
})
