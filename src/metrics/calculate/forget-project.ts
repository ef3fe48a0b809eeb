import type { Database } from '../../database/database.ts'
import { commitsDiffs } from '../../domain/code.ts'
import { pullRequestIssues } from '../../domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../domain/devops.ts'
import { incidents, issueAssigneeHistory, issueStatusHistory } from '../../domain/ticket.ts'
import type { Forgetting } from './calculation.ts'
import { forgetDeploymentRanges } from './commit-ranges.ts'
import { forgetDeploymentCommits, forgetDeployments } from './deployments.ts'
import { forgetIncidents } from './incidents.ts'
import { forgetAssigneeHistory, forgetStatusHistory } from './issue-history.ts'
import { forgetLinks } from './pull-request-issues.ts'
import { inTurn } from './results.ts'

/** By the result whose turn it waits for. */
const FORGETTING: ReadonlyMap<string, Forgetting> = new Map([
  [cicdDeployments.name, forgetDeployments],
  [cicdDeploymentCommits.name, forgetDeploymentCommits],
  [commitsDiffs.name, forgetDeploymentRanges],
  [incidents.name, forgetIncidents],
  [pullRequestIssues.name, forgetLinks],
  [issueStatusHistory.name, forgetStatusHistory],
  [issueAssigneeHistory.name, forgetAssigneeHistory],
])

/**
 * Takes back what was calculated for a project in tables that do not name it, unless another project has it too. It goes by
 * the mapping of the project, which has to be there still.
 */
export async function forgetProject(inside: Database, project: string): Promise<void> {
  for (const [result, forget] of FORGETTING) await inTurn(inside, result, (turn) => forget(turn, project))
}
