import type { Dashboard } from '../dashboard.ts'
import { codeHostSections } from '../parts/code-host.ts'
import { scopesVariable, sourceBuilds, sourceIssues, sourcePullRequests } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'azuredevops_go'
const REPOSITORY = scopesVariable(PLUGIN, 'cicd_scopes', {
  name: 'repository',
  title: 'Repository',
  remedy:
    'No repository of Azure DevOps was collected: connect Azure DevOps, add repositories to a project, and collect.',
})
const BOARD = scopesVariable(PLUGIN, 'boards', {
  name: 'board',
  title: 'Board',
  remedy: 'No board of Azure DevOps was collected: add the boards of its projects to a project, and collect.',
})
const pullRequests = sourcePullRequests(PLUGIN, REPOSITORY.name)
const builds = sourceBuilds(PLUGIN, REPOSITORY.name)
const issues = sourceIssues(PLUGIN, BOARD.name)

export const azureDevops: Dashboard = {
  name: 'azure-devops',
  title: 'Azure DevOps',
  question: 'Are pull requests and work items handled in time, and do the builds succeed?',
  group: 'Sources',
  variables: [REPOSITORY, BOARD, INTERVAL],
  sections: codeHostSections(
    { pullRequests, builds, issues },
    { pullRequests: 'Pull requests', builds: 'Builds', issues: 'Work items' },
  ),
}
