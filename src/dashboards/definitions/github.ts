import type { Dashboard } from '../dashboard.ts'
import { codeHostSections } from '../parts/code-host.ts'
import { scopesVariable, sourceBuilds, sourceIssues, sourcePullRequests } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'github'
const REPOSITORY = scopesVariable(PLUGIN, 'repos', {
  name: 'repository',
  title: 'Repository',
  remedy: 'No repository of GitHub was collected: connect GitHub, add repositories to a project, and collect.',
})
// A repository of GitHub is also a board and a scope of builds, with the same id.
const pullRequests = sourcePullRequests(PLUGIN, REPOSITORY.name)
const issues = sourceIssues(PLUGIN, REPOSITORY.name)
const builds = sourceBuilds(PLUGIN, REPOSITORY.name)

export const github: Dashboard = {
  name: 'github',
  title: 'GitHub',
  question: 'Are issues and pull requests of these repositories handled in time, and are the workflows green?',
  group: 'Sources',
  variables: [REPOSITORY, INTERVAL],
  sections: codeHostSections(
    { pullRequests, builds, issues },
    { pullRequests: 'Pull requests', builds: 'Workflows', issues: 'Issues' },
  ),
}
