import type { Dashboard } from '../dashboard.ts'
import { buildToolSections } from '../parts/build-tool.ts'
import { scopesVariable, sourceBuilds } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'bamboo'
const PLAN = scopesVariable(PLUGIN, 'cicd_scopes', {
  name: 'scope',
  title: 'Plan of Bamboo',
  remedy: 'No plan of Bamboo was collected: connect Bamboo, add its plans to a project, and collect.',
})

export const bamboo: Dashboard = {
  name: 'bamboo',
  title: 'Bamboo',
  question: 'How many builds succeed, how long do they take, and what do they wait for?',
  group: 'Sources',
  variables: [PLAN, INTERVAL],
  sections: buildToolSections(sourceBuilds(PLUGIN, PLAN.name)),
}
