import type { RawRecord } from '../../../database/table.ts'
import {
  bigint,
  boolean,
  double,
  indexed,
  integer,
  key,
  string,
  text,
  timestamp,
  zeroTime,
} from '../../../database/table.ts'
import { cicdPipelines, cicdTasks } from '../../../domain/devops.ts'
import { manyByKey } from '../../../plugin-kit/index.ts'
import { buildUrl, entity, folderPath, inRanges, type Job, jobOf, jobPath, jobs, scopeJobs, table } from '../kit.ts'
import { RULES_OF_RUNS } from '../rules.ts'

const jobNameOf = ({ input, scope }: { input: RawRecord; scope: Job }): string => input?.FullName ?? scope.full_name

export const builds = table('builds', 'JenkinsBuild', {
  full_name: key(string(({ number }, context: RawRecord) => `${jobNameOf(context)}#${number}`)),
  job_name: indexed(string((_build: unknown, { input, scope }: RawRecord) => input?.Name ?? scope.name)),
  job_path: indexed(string((_build: unknown, { input, scope }: RawRecord) => input?.Path ?? scope.path)),
  duration: double(),
  estimated_duration: double('estimatedDuration'),
  number: indexed(bigint()),
  result: text(),
  timestamp: bigint(),
  start_time: zeroTime(timestamp(({ timestamp }) => wholeSecond(timestamp))),
  type: string(() => ''),
  class: indexed(string('_class')),
  triggered_by: string(({ actions }) => upstreamBuildIn(actions)),
  building: boolean(),
  has_stages: boolean(() => false), // set when the stages are collected
})

export const buildCommits = table('build_commits', 'JenkinsBuildCommit', {
  build_name: key(string()),
  commit_sha: key(string()),
  branch: string(),
  repo_url: string(),
  number: indexed(bigint()),
})
/** All repositories from which a commit of a build was fetched. `build_commits` and domain rows have room only for the first. */
export const buildRemotes = table('build_remotes', 'JenkinsBuildRemote', {
  build_name: key(string()),
  commit_sha: key(string()),
  /** The position in Jenkins' list, from 1. */
  position: key(integer()),
  repo_url: text(),
  branch: string(),
})

const wholeSecond = (milliseconds: number): Date | null =>
  milliseconds > 0 ? new Date(Math.floor(milliseconds / 1000) * 1000) : null

const listOf = (value: unknown): RawRecord[] => (Array.isArray(value) ? value.filter(Boolean) : [])

function upstreamBuildIn(actions: unknown): string {
  const causes = listOf(actions).flatMap(({ causes }) => listOf(causes))
  const upstream = causes.find(({ upstreamProject, upstreamBuild }) => upstreamProject && upstreamBuild)
  return upstream ? `${upstream.upstreamProject}#${upstream.upstreamBuild}` : ''
}

/** Returns the commits of all checkouts, each of which leaves an action: the sources, libraries, and each repository of a pipeline. */
function* commitsOf(actions: unknown) {
  for (const { lastBuiltRevision, remoteUrls, mercurialRevisionNumber } of listOf(actions)) {
    const commit_sha = mercurialRevisionNumber || lastBuiltRevision?.SHA1
    if (!commit_sha) continue
    const branch = listOf(lastBuiltRevision?.branch)[0]?.name ?? ''
    for (const repo_url of listOf(remoteUrls)) yield { commit_sha, branch, repo_url }
  }
}

const SCM = 'lastBuiltRevision[SHA1,branch[name]],remoteUrls,mercurialRevisionNumber'
const CAUSES = 'causes[_class,shortDescription,upstreamProject,upstreamBuild,userId]'
const BUILD = `_class,number,url,timestamp,duration,estimatedDuration,fullDisplayName,result,building,actions[_class,${SCM},${CAUSES}]`

const inputOf = (fullName: string) => ({
  Name: fullName.slice(fullName.lastIndexOf('/') + 1),
  Path: folderPath(fullName),
  FullName: fullName,
})

/**
 * Returns the branches of a build. The job of a multibranch project is named after its branch, in encoded form. For other builds
 * the commits contain the branch.
 */
export function branchesOf(
  buildName: string,
  scope: Job,
  commits: readonly { readonly branch: string }[] = [],
): string[] {
  const job = jobOf(buildName)
  if (job.startsWith(`${scope.full_name}/`)) return [decoded(job.slice(scope.full_name.length + 1))]
  return commits.map(({ branch }) => branch)
}
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

export default entity(builds, {
  label: 'Api Builds',
  names: { convert: 'convertBuildsToCICD' },
  domainTypes: ['CICD'],
  raw: 'jenkins_api_builds',
  collect: {
    forEach: {
      table: scopeJobs,
      only: ({ last_number }) => last_number > 0,
      input: ({ full_name }) => inputOf(full_name),
      key: ({ FullName }) => FullName,
    },
    request: ({ input }) => ({
      path: `${jobPath(input.FullName)}api/json`,
      query: { tree: `allBuilds[${BUILD}]{}` },
    }),
    paging: inRanges({ size: 100, key: ({ number }) => number }),
    records: ({ allBuilds }) => allBuilds,
    key: ({ number }) => number,
    incremental: {
      numbered: {
        of: ({ number, timestamp }) => ({ number, made: timestamp }),
        newest: ({ last_number, last_build_at }) => ({ number: last_number, made: last_build_at?.getTime() ?? 0 }),
      },
      refetch: {
        where: { building: true },
        request: ({ full_name, number }) => ({
          path: `${jobPath(jobOf(full_name))}${number}/api/json`,
          query: { tree: BUILD },
        }),
        within: ({ full_name }) => inputOf(jobOf(full_name)),
      },
    },
    emptyOn: [404], // deleted since it was listed
  },
  extract: {
    edition: 1,
    owns: [buildCommits, buildRemotes].map((each) => ({
      table: each,
      by: { connection_id: 'connection_id', build_name: 'full_name' },
    })),
    *rows(build, { input, scope, connectionId, read }) {
      yield read(builds, build)
      const build_name = `${jobNameOf({ input, scope })}#${build.number}`
      const own = { connection_id: connectionId, build_name }
      for (const [commit_sha, places] of Map.groupBy(commitsOf(build.actions), (commit) => commit.commit_sha)) {
        const remotes = new Map(places.map((place) => [place.repo_url, place]))
        for (const [index, { repo_url, branch }] of [...remotes.values()].entries()) {
          if (index === 0) yield buildCommits.row({ ...own, commit_sha, branch, repo_url, number: build.number })
          yield buildRemotes.row({ ...own, commit_sha, position: index + 1, repo_url, branch })
        }
      }
    },
  },
  convert: {
    to: [cicdPipelines, cicdTasks],
    owns: [{ table: cicdTasks, by: { id: 'id' } }],
    isIncremental: true,
    dependsOn: RULES_OF_RUNS,
    lookups: { commits: manyByKey(buildCommits, 'build_name', ({ full_name }) => full_name) },
    *rows(build, { idOf, scope, scopeConfig, lookups }) {
      const { full_name, building } = build
      const branches = branchesOf(full_name, scope, lookups.commits.get(full_name))
      const start_time = scopeConfig.startOf(build.timestamp)
      const id = idOf(builds, full_name)
      const finished = start_time && new Date(start_time.getTime() + build.duration)
      const run = {
        id,
        result: building ? '' : scopeConfig.resultOf(build.result),
        status: building ? 'IN_PROGRESS' : 'DONE',
        original_result: build.result,
        original_status: String(building),
        ...scopeConfig.deliveryOf({ names: [full_name], branches }),
        duration_sec: build.duration / 1000,
        created_date: start_time,
        started_date: start_time,
        finished_date: building ? null : finished,
        cicd_scope_id: idOf(jobs, scope.full_name),
      }
      const url = buildUrl(scope, full_name, build.number)
      yield cicdPipelines.row({ ...run, name: full_name, display_title: full_name, url })
      // A build without stages is stored as its own only task.
      if (!build.has_stages) yield cicdTasks.row({ ...run, pipeline_id: id, name: jobOf(full_name) })
    },
  },
})
