import type { Dashboard } from '../dashboard.ts'
import {
  duplicatedLines,
  findingsBySeverity,
  hotspotsReviewed,
  openBugs,
  openVulnerabilities,
  projectsByFindings,
  technicalDebt,
  testCoverage,
  worstFiles,
} from '../parts/code-quality.ts'
import { scopesVariable, sourceFiles, sourceFindings } from '../populations.ts'

const PLUGIN = 'sonarqube'
const PROJECT = scopesVariable(PLUGIN, 'cq_projects', {
  name: 'scope',
  title: 'Project of SonarQube',
  remedy: 'No project of SonarQube was collected: connect SonarQube, add its projects to a project, and collect.',
})
const findings = sourceFindings(PLUGIN, PROJECT.name)
const files = sourceFiles(PLUGIN, PROJECT.name)

export const sonarqube: Dashboard = {
  name: 'sonarqube',
  title: 'SonarQube',
  question: 'What does SonarQube say about these projects now?',
  group: 'Sources',
  variables: [PROJECT],
  sections: [
    {
      panels: [openBugs(findings), openVulnerabilities(findings), hotspotsReviewed(findings), technicalDebt(findings)],
    },
    { panels: [testCoverage(files), duplicatedLines(files)] },
    { title: 'Which ones', panels: [findingsBySeverity(findings), projectsByFindings(findings), worstFiles(files)] },
  ],
}
