import { createHash } from 'node:crypto'
import type { RawRecord } from '../../../database/table.ts'
import { key, required, string, text, timestamp } from '../../../database/table.ts'
import { cicdDeployments } from '../../../domain/devops.ts'
import { fromFields, type Message, oneOf } from '../../../plugin-kit/index.ts'
import { entity, spanOf, table } from '../kit.ts'
import { commitFields, deploymentCommits } from './deployment-commits.ts'

const environmentOf = ({ environment }: RawRecord): string => environment || 'PRODUCTION'
const createdOf = ({ createdDate, startedDate }: RawRecord): string => createdDate || startedDate

function titleOf(deployment: RawRecord): string {
  const shas = deployment.deploymentCommits.map(({ commitSha }: RawRecord) => commitSha)
  return `deploy ${shas.join(', ')} to ${environmentOf(deployment)}`
}

const fields = fromFields({
  id: key(string(150)), // leaves room for the connection, the repository and the commit in the ids of its commits
  name: text((deployment) => deployment.name || titleOf(deployment)),
  display_title: text(),
  result: string(100, ({ result }: RawRecord) => result || 'SUCCESS'),
  status: string(100, ({ status, deploymentCommits }: RawRecord) => status || deploymentCommits[0].status || 'DONE'),
  environment: oneOf(['PRODUCTION', 'STAGING', 'TESTING', 'DEVELOPMENT'], string(environmentOf)),
  original_environment: string(),
  created_date: timestamp(createdOf),
  started_date: required(timestamp()),
  finished_date: required(timestamp()),
})

export const deployments = table('deployments', fields)

const HASH_LENGTH = 16
const hashOf = (url: unknown) => createHash('md5').update(String(url)).digest('hex').slice(0, HASH_LENGTH)

const commitsOf = (deployment: RawRecord): object[] =>
  deployment.deploymentCommits.map((commit: RawRecord) => ({
    ...commit,
    // The metrics read the commits, so a failed deployment must not count as a success because its commits have no result.
    result: commit.result || deployment.result,
    status: commit.status || deployment.status,
    createdDate: commit.createdDate || createdOf(deployment),
    repoHash: hashOf(commit.repoUrl),
    deploymentId: deployment.id,
    environment: environmentOf(deployment),
    originalEnvironment: deployment.originalEnvironment,
    deploymentStartedDate: deployment.startedDate,
    deploymentFinishedDate: deployment.finishedDate,
  }))

const deploymentEntity = entity(deployments, {
  label: 'Deployments',
  domainTypes: ['CICD'],
  raw: 'webhook_deployments',
  extract: {
    writes: [deploymentCommits],
    rows: (deployment, { read }) => [
      read(deployments, deployment),
      ...commitsOf(deployment).map((commit) => read(deploymentCommits, commit)),
    ],
  },
  convert: {
    to: [cicdDeployments],
    rows: (deployment, { idOf }) => [
      cicdDeployments.row({
        ...deployment,
        cicd_scope_id: idOf(deployments),
        duration_sec: spanOf(deployment.started_date, deployment.finished_date, 1000),
      }),
    ],
  },
})
export default deploymentEntity

export const deploymentMessage: Message = {
  entity: deploymentEntity,
  fields,
  lists: { deploymentCommits: commitFields },
}
