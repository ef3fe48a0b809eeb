import type { RawRecord } from '../../../database/table.ts'
import { bigint, indexed, key, string, text } from '../../../database/table.ts'
import { entity, rightColumns, table } from '../kit.ts'

export const deployEnvironments = table('deploy_environments', 'BambooDeployEnvironment', {
  env_id: key(bigint('id')),
  env_key: indexed(string('key.key')),
  name: indexed(string()),
  plan_key: indexed(string(255, (_environment, { scope }) => scope.plan_key)),
  project_key: indexed(string(191, () => '')), // DevLake leaves it empty
  description: text(),
  deployment_project_id: bigint('deploymentProjectId'),
  position: bigint(),
  configuration_state: text('configurationState'),
  ...rightColumns,
})

/** Bamboo lists the deployment projects of all plans; an environment belongs to the plan of its project. */
export default entity(deployEnvironments, {
  label: 'Deploy',
  names: { collect: 'CollectDeploy', extract: 'ExtractDeploy' },
  domainTypes: ['CICD'],
  raw: 'bamboo_api_deploys',
  collect: {
    request: () => ({ path: 'deploy/project/all.json' }),
    records: (projects) => (Array.isArray(projects) ? projects : []),
    isForAll: true,
  },
  extract: {
    *rows({ planKey, environments }, { read, scope }) {
      if (planKey?.key !== scope.plan_key) return
      const listed: readonly RawRecord[] = environments ?? []
      for (const environment of listed) yield read(deployEnvironments, environment)
    },
  },
})
