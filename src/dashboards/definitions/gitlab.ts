import type { Dashboard } from '../dashboard.ts'
import { codeHostSections } from '../parts/code-host.ts'
import { scopesVariable, sourceBuilds, sourceIssues, sourcePullRequests } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'gitlab'
// A project of GitLab is a repository, a board and a scope of builds, with the same id.
const PROJECT = scopesVariable(PLUGIN, 'repos', {
  name: 'repository',
  title: 'Project of GitLab',
  remedy: 'No project of GitLab was collected: connect GitLab, add its projects to a project, and collect.',
})

export const gitlab: Dashboard = {
  name: 'gitlab',
  title: 'GitLab',
  question: 'Are issues and merge requests of these projects handled in time, and are the pipelines green?',
  group: 'Sources',
  variables: [PROJECT, INTERVAL],
  sections: codeHostSections(
    {
      pullRequests: sourcePullRequests(PLUGIN, PROJECT.name),
      builds: sourceBuilds(PLUGIN, PROJECT.name),
      issues: sourceIssues(PLUGIN, PROJECT.name),
    },
    { pullRequests: 'Merge requests', builds: 'Pipelines', issues: 'Issues' },
  ),
}
