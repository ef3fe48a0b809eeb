/** Tells the fake CircleCI what it built. */
import { type FakeCircleci, startFakeCircleci } from '../tests/fake-circleci/fake-circleci.ts'
import type { Build, Change, ServiceStory } from './happenings.ts'
import { BUILD_JOBS, jobsOf } from './jobs.ts'
import { OWNER } from './organisation.ts'

export const slugOf = (name: string): string => `github/${OWNER}/${name}`

export async function startCircleci(stories: readonly ServiceStory[]): Promise<FakeCircleci> {
  const circleci = await startFakeCircleci(0)
  const built = stories.filter(({ circleciFrom }) => circleciFrom !== undefined)
  circleci.followed = built.map(({ service: { name } }) => ({
    id: `project-${name}`,
    name,
    org_id: OWNER,
    slug: slugOf(name),
  }))
  for (const { service, repository, changes, circleciFrom = Number.POSITIVE_INFINITY } of built) {
    const builds = changes
      .flatMap((change, number) => change.builds.map((build) => ({ change, build, number })))
      .filter(({ build }) => build.at >= circleciFrom)
      .sort((one, other) => one.build.at - other.build.at)
    for (const { change, build, number } of builds) {
      tellBuild(
        circleci,
        { slug: slugOf(service.name), repository, revision: `${service.name}-${number}` },
        change,
        build,
      )
    }
  }
  circleci.now = () => new Date()
  return circleci
}

interface Place {
  readonly slug: string
  readonly repository: string
  readonly revision: string
}

function tellBuild(
  circleci: FakeCircleci,
  { slug, repository, revision }: Place,
  { title }: Change,
  build: Build,
): void {
  const happens = (moment: number) => {
    circleci.now = () => new Date(moment)
  }
  happens(build.at)
  const pipeline = circleci.createPipeline({ project: slug })
  Object.assign(pipeline.vcs, { revision, branch: `change-${revision}`, commit: { subject: title, body: '' } })
  pipeline.vcs.origin_repository_url = `https://github.com/${repository}`
  const status = build.failedJob === undefined ? 'success' : 'failed'
  const workflow = circleci.addWorkflow(pipeline.id, { name: 'build', status })
  for (const { name, from, to, isFailed } of jobsOf(BUILD_JOBS, build)) {
    happens(from)
    const job = circleci.addJob(workflow.id, { name, status: isFailed ? 'failed' : 'success' })
    job.stopped_at = new Date(to).toISOString()
    workflow.stopped_at = job.stopped_at
  }
}
