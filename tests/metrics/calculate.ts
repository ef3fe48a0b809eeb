import type { Database } from '../../src/database/database.ts'
import { dora } from '../../src/plugins/dora/plugin.ts'
import { refdiff } from '../../src/plugins/refdiff/plugin.ts'

const NAMES = [
  'generateDeployments',
  'generateDeploymentCommits',
  'enrichPrevSuccessDeploymentCommits',
  'calculateDeploymentCommitsDiff',
  'calculateChangeLeadTime',
  'ConvertIssuesToIncidents',
  'ConnectIncidentToDeployment',
]
const subtasks = NAMES.map((name) => [...dora.subtasks, ...refdiff.subtasks].find((each) => each.name === name)!)

/** Runs all calculations of a run of the project. */
export async function calculate(database: Database, project: string, fullSync = false): Promise<void> {
  for (const subtask of subtasks) {
    await subtask.run({
      database,
      options: { projectName: project },
      fullSync,
      signal: new AbortController().signal,
      progress: () => {},
    })
  }
}
