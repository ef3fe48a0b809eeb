import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, text } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdPipelines } from '../../../domain/devops.ts'
import {
  allResultPages,
  browseUrl,
  entity,
  plans,
  RESULT,
  type RulesContext,
  resultColumns,
  resultList,
  resultRecords,
  STATUS,
  table,
  UNFINISHED,
} from '../kit.ts'

const deliveryOf = ({ planName }: RawRecord, { scopeConfig }: RulesContext) =>
  scopeConfig.deliveryOf({ names: [planName ?? ''], isProductionNamed: true })

export const planBuilds = table('plan_builds', 'BambooPlanBuild', {
  plan_build_key: key(string(191, 'key')),
  ...resultColumns,
  link_href: text('link.href'),
  plan_name: text('planName'),
  plan_key: text((_build, { scope }) => scope.plan_key),
  project_name: text('projectName'),
  project_key: text(() => ''), // DevLake leaves it empty
  type: string((build, context) => deliveryOf(build, context).type),
  environment: string((build, context) => deliveryOf(build, context).environment),
  plan_result_key: text('planResultKey.key'),
})

export const planBuildCommits = table('plan_build_commits', 'BambooPlanBuildVcsRevision', {
  plan_build_key: key(string(191)),
  plan_result_key: key(string(191)),
  vcs_revision_key: key(string(191, 'vcsRevisionKey')),
  repository_id: bigint('repositoryId'),
  repository_name: text('repositoryName'),
  display_title: text(),
  url: text(),
})

const titleOf = (build: { project_name: string; plan_name: string; number: number }) =>
  `${build.project_name} - ${build.plan_name}/${build.number}`

export default entity(planBuilds, {
  label: 'Plan Build',
  names: { collect: 'CollectPlanBuild', extract: 'ExtractPlanBuild', convert: 'convertPlanBuilds' },
  domainTypes: ['CICD'],
  raw: 'bamboo_api_plan_builds',
  collect: {
    request: ({ scope }) => resultList(scope.plan_key),
    paging: allResultPages,
    records: resultRecords,
    key: ({ key }) => key,
    incremental: {
      newestFirstBy: 'buildStartedTime',
      refetch: {
        where: { life_cycle_state: UNFINISHED },
        request: ({ plan_build_key }) => ({
          path: `result/${encodeURIComponent(plan_build_key)}.json`,
          query: { expand: 'vcsRevisions' },
        }),
      },
    },
  },
  extract: {
    dependsOn: ['deploymentPattern', 'productionPattern'],
    owns: [{ table: planBuildCommits, by: { connection_id: 'connection_id', plan_build_key: 'plan_build_key' } }],
    *rows(build, { read }) {
      yield read(planBuilds, build)
      const values = {
        plan_build_key: build.key,
        plan_result_key: build.planResultKey?.key ?? build.key,
        display_title: titleOf({ project_name: build.projectName, plan_name: build.planName, number: build.number }),
        url: browseUrl(build.link?.href ?? '', build.key),
      }
      const revisions: readonly RawRecord[] = build.vcsRevisions?.vcsRevision ?? []
      for (const revision of revisions) {
        if (revision.vcsRevisionKey) yield read(planBuildCommits, revision, values)
      }
    },
  },
  convert: {
    to: [cicdPipelines],
    *rows(build, { idOf, scope }) {
      // The build is waiting, or was never run.
      if (!build.build_started_time) return
      const title = titleOf(build)
      yield cicdPipelines.row({
        id: idOf(planBuilds, build.plan_build_key),
        name: title,
        display_title: title,
        url: browseUrl(build.link_href, build.plan_key), // the page of the plan, as in DevLake
        result: classify(build.build_state, RESULT, ''),
        status: classify(build.life_cycle_state, STATUS, 'OTHER'),
        original_result: build.build_state,
        original_status: build.life_cycle_state,
        type: build.type,
        environment: build.environment,
        duration_sec: build.build_duration_in_seconds,
        created_date: build.build_started_time,
        started_date: build.build_started_time,
        finished_date: build.build_completed_date,
        cicd_scope_id: idOf(plans, scope.plan_key),
      })
    },
  },
})
