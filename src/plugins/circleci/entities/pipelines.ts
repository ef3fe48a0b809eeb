import { bigint, key, string, text, timestamp } from '../../../database/table.ts'
import { pick, sortedJson } from '../../../plugin-kit/index.ts'
import { entity, items, pageToken, slug, table } from '../kit.ts'

const TRIGGER = { type: '', received_at: '', actor: { login: '', avatar_url: '' } }
const VERSION_CONTROL = {
  provider_name: '',
  target_repository_url: '',
  branch: '',
  review_id: '',
  review_url: '',
  revision: '',
  tag: '',
  origin_repository_url: '',
  commit: { subject: '', body: '' },
}

export const pipelines = table('pipelines', 'CircleciPipeline', {
  id: key(string(100)),
  project_slug: slug(),
  updated_date: timestamp('updated_at'),
  created_date: timestamp('created_at'),
  number: bigint(),
  trigger_parameters: text((pipeline) => sortedJson(pipeline.trigger_parameters)),
  state: string(100),
  trigger: text((pipeline) => JSON.stringify(pick(TRIGGER, pipeline.trigger))),
  vcs: text((pipeline) => JSON.stringify(pick(VERSION_CONTROL, pipeline.vcs))),
})

export default entity(pipelines, {
  label: 'Pipelines',
  domainTypes: ['CICD'],
  raw: 'circleci_api_pipelines',
  collect: {
    request: ({ scope }) => ({ path: `/v2/project/${scope.slug}/pipeline` }),
    paging: pageToken,
    records: items,
    incremental: {
      newestFirstBy: 'created_at',
      refetch: {
        where: { state: ['pending', 'setup-pending', 'setup'] },
        request: ({ id }) => ({ path: `/v2/pipeline/${id}` }),
      },
    },
  },
})
