/** Tells the fake CircleCI what it built. */
import { type FakeCircleci, startFakeCircleci } from '../tests/plugin-kit/fake-circleci.ts'
import { JOBS } from './github.ts'
import type { Build, Change, ServiceStory } from './happenings.ts'
import { OWNER } from './organisation.ts'
import { MINUTE } from './teller.ts'

export const slugOf = (name: string): string => `github/${OWNER}/${name}`

export async function startCircleci(stories: readonly ServiceStory[]): Promise<FakeCircleci> {
  const circleci = await startFakeCircleci(0)
  const built = stories.filter(({ circleciFrom }) => circleciFrom !== undefined)
  circleci.followed = built.map(({ service: { name } }) => ({
    ...{ id: `project-${name}`, name, org_id: OWNER, slug: slugOf(name) },
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

/** The jobs run one after the other, up to one that fails. */
function tellBuild(
  circleci: FakeCircleci,
  { slug, repository, revision }: Place,
  { title }: Change,
  build: Build,
): void {
  const { at, minutesQueued, minutes, failedJob } = build
  const happens = (moment: number) => {
    circleci.now = () => new Date(moment)
  }
  const status = failedJob === undefined ? 'success' : 'failed'
  const failed = failedJob === undefined ? JOBS.length : JOBS.indexOf(failedJob)
  const each = (minutes * MINUTE) / JOBS.length
  const begins = at + minutesQueued * MINUTE
  happens(at)
  const pipeline = circleci.createPipeline({ project: slug })
  Object.assign(pipeline.vcs, { revision, branch: `change-${revision}`, commit: { subject: title, body: '' } })
  pipeline.vcs.origin_repository_url = `https://github.com/${repository}`
  const workflow = circleci.addWorkflow(pipeline.id, { name: 'build', status })
  JOBS.slice(0, failed + 1).forEach((name, position) => {
    happens(begins + each * position)
    const job = circleci.addJob(workflow.id, { name, status: position === failed ? 'failed' : 'success' })
    job.stopped_at = new Date(begins + each * (position + 1)).toISOString()
    workflow.stopped_at = job.stopped_at
  })
}
