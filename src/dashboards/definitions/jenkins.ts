import type { Dashboard } from '../dashboard.ts'
import { buildToolSections } from '../parts/build-tool.ts'
import { scopesVariable, sourceBuilds } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'jenkins'
const JOB = scopesVariable(PLUGIN, 'cicd_scopes', {
  name: 'scope',
  title: 'Job of Jenkins',
  remedy: 'No job of Jenkins was collected: connect Jenkins, add its jobs to a project, and collect.',
})

export const jenkins: Dashboard = {
  name: 'jenkins',
  title: 'Jenkins',
  question: 'How many builds succeed, how long do they take, and what do they wait for?',
  group: 'Sources',
  variables: [JOB, INTERVAL],
  sections: buildToolSections(sourceBuilds(PLUGIN, JOB.name)),
}
