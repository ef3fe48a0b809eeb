import type { Dashboard } from '../dashboard.ts'
import { buildToolSections } from '../parts/build-tool.ts'
import { scopesVariable, sourceBuilds } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'circleci'
const PROJECT = scopesVariable(PLUGIN, 'cicd_scopes', {
  name: 'scope',
  title: 'Project of CircleCI',
  remedy: 'No project of CircleCI was collected: connect CircleCI, add its projects to a project, and collect.',
})

export const circleci: Dashboard = {
  name: 'circleci',
  title: 'CircleCI',
  question: 'How many workflows succeed, how long do they take, and what do they wait for?',
  group: 'Sources',
  variables: [PROJECT, INTERVAL],
  sections: buildToolSections(sourceBuilds(PLUGIN, PROJECT.name)),
}
