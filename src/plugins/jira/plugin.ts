import { definePlugin, incidentTextField } from '../../plugin-kit/index.ts'
import { boardFilterBegin, boardFilterEnd } from './board-filter.ts'
import { checkConnection, connectionFields, credentials, RIGHTS, sign } from './connection.ts'
import { deliveries } from './deliveries.ts'
import accounts, { accounts as accountTable, issuePeople } from './entities/accounts.ts'
import boardEntity from './entities/boards.ts'
import changelogs from './entities/changelogs.ts'
import comments from './entities/comments.ts'
import developmentPanel from './entities/development-panel.ts'
import epics from './entities/epics.ts'
import issueCommits from './entities/issue-commits.ts'
import issueFields, { issueFields as issueFieldTable } from './entities/issue-fields.ts'
import issueRepoCommits from './entities/issue-repo-commits.ts'
import issueTypes from './entities/issue-types.ts'
import issues from './entities/issues.ts'
import labels from './entities/labels.ts'
import projects from './entities/projects.ts'
import relationships from './entities/relationships.ts'
import remotelinks from './entities/remotelinks.ts'
import serverInfos from './entities/server-infos.ts'
import sprintIssues from './entities/sprint-issues.ts'
import sprints from './entities/sprints.ts'
import statuses from './entities/statuses.ts'
import worklogs from './entities/worklogs.ts'
import { boards, paramsOf, probe } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { jiraRoutes } from './routes.ts'
import { ruleNames, ruleSamples, suggestIssueRules } from './rule-names.ts'
import { issueRules, namesInMappings, repoPatterns, STANDARD_TYPES, typeMappings } from './rules.ts'

export const jira = definePlugin({
  name: 'jira',
  title: 'Jira',
  about: 'Boards with their issues, sprints, changes of status and worklogs, on Cloud, Server or Data Center.',
  spelling: 'camel',
  connection: {
    endpoint: '',
    rights: RIGHTS,
    fields: connectionFields,
    credentials,
    sign,
    check: checkConnection,
    probe,
  },
  routes: jiraRoutes,
  scope: {
    table: boards,
    title: 'Board',
    options: { boardId: 'board_id' },
    params: paramsOf,
    remote: remoteScopes,
    check: ({ board_id }) => ({ path: `agile/1.0/board/${board_id}/configuration` }),
  },
  scopeConfig: {
    fields: {
      typeMappings: {
        kind: 'json',
        schema: typeMappings,
        label: 'Issue types and statuses',
        help: 'For each type in Jira: its standardType (REQUIREMENT, BUG or INCIDENT) and, if you want, statusMappings. A type that is not listed keeps its name, in capital letters.',
        isOptional: true,
        names: ['types', 'statuses'],
        spokenNames: namesInMappings,
        suggestion: STANDARD_TYPES,
      },
      issueTextIncident: incidentTextField,
      storyPointField: {
        kind: 'string',
        label: 'Field with story points',
        names: ['fields'],
        size: 255,
        isOptional: true,
      },
      dueDateField: {
        kind: 'string',
        label: 'Field with the due date',
        help: "Empty: Jira's own due date.",
        names: ['fields'],
        size: 255,
        isOptional: true,
      },
      // Stored for clients that use it. Jira itself tells which epic an issue belongs to.
      epicKeyField: { kind: 'string', label: 'Field with the epic', size: 255, isOptional: true },
      applicationType: {
        kind: 'string',
        label: 'Source of commits in the development panel',
        help: 'For example GitLab or bitbucket. If it is set, remote links are not collected.',
        size: 255,
        isOptional: true,
      },
      remotelinkCommitShaPattern: { kind: 'regex', label: 'Commits in remote links', size: 255, isOptional: true },
      remotelinkRepoPattern: {
        kind: 'json',
        schema: repoPatterns,
        label: 'Repositories in remote links',
        isOptional: true,
      },
    },
    prepare: issueRules,
    names: ruleNames,
    samples: ruleSamples,
    suggest: suggestIssueRules,
  },
  entities: [
    serverInfos,
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
  deliveries,
  referred: [{ table: accountTable, by: [{ table: issuePeople, columns: { account_id: 'account_id' } }] }],
  keyTitles: { table: issueFieldTable, key: 'id', title: 'name' },
  extra: { first: [boardFilterBegin], last: [boardFilterEnd] },
})
