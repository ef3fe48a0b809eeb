/** The data of a Jenkins: folders, jobs, multibranch projects with their branches, builds with stages. It changes on demand. */

export interface FakeStage {
  readonly id: string
  readonly name: string
  readonly execNode: string
  status: string
  readonly startTimeMillis: number
  durationMillis: number
  readonly pauseDurationMillis: number
}
export interface FakeBuild {
  readonly _class: string
  readonly number: number
  readonly timestamp: number
  duration: number
  readonly estimatedDuration: number
  result: string | null
  building: boolean
  readonly actions: readonly unknown[]
  /** Undefined if the build is not a pipeline. */
  stages: FakeStage[] | undefined
}
export interface FakeItem {
  readonly _class: string
  readonly fullName: string
  readonly description: string
  /** Newest first. Undefined for a folder. */
  readonly builds: FakeBuild[] | undefined
  last: number
}
export interface BuildOptions {
  readonly result?: string | null
  readonly building?: boolean
  readonly timestamp?: number
  readonly duration?: number
  readonly stages?: readonly string[] | undefined
  readonly commits?: readonly {
    readonly sha: string
    /** Several addresses are remotes of one checkout. */
    readonly url: string | readonly string[]
    readonly branch?: string
  }[]
  readonly upstream?: { readonly project: string; readonly build: number }
}

export const CLASSES = {
  folder: 'com.cloudbees.hudson.plugins.folder.Folder',
  organisation: 'jenkins.branch.OrganizationFolder',
  multibranch: 'org.jenkinsci.plugins.workflow.multibranch.WorkflowMultiBranchProject',
  pipeline: 'org.jenkinsci.plugins.workflow.job.WorkflowJob',
  freestyle: 'hudson.model.FreeStyleProject',
} as const
export type ItemKind = keyof typeof CLASSES

export type World = ReturnType<typeof createWorld>

export function createWorld() {
  /** Items by their full name, in the order of their creation. */
  const items = new Map<string, FakeItem>()
  /** Returns the direct children of this folder. */
  const childrenOf = (folder: string): FakeItem[] => {
    const prefix = folder === '' ? '' : `${folder}/`
    return [...items.values()].filter(
      ({ fullName }) => fullName.startsWith(prefix) && !fullName.slice(prefix.length).includes('/'),
    )
  }
  const world = {
    /** The server's clock, which dates events and answers. */
    now: () => new Date(),
    items,
    childrenOf,
    /** Folders that list themselves among their own jobs. */
    circular: new Set<string>(),
    add(kind: ItemKind, fullName: string): FakeItem {
      const isHolder = kind === 'folder' || kind === 'multibranch' || kind === 'organisation'
      const builds = isHolder ? undefined : []
      const item = { _class: CLASSES[kind], fullName, description: `What ${fullName} does`, builds, last: 0 }
      items.set(fullName, item)
      return item
    },
    /** Deletes an item with everything below it. */
    delete(fullName: string) {
      for (const each of [...items.keys()]) {
        if (each === fullName || each.startsWith(`${fullName}/`)) items.delete(each)
      }
    },
    /** Renames an item. Builds keep their numbers and times. */
    rename(from: string, to: string) {
      for (const [name, item] of [...items]) {
        if (name !== from && !name.startsWith(`${from}/`)) continue
        items.delete(name)
        const fullName = to + name.slice(from.length)
        items.set(fullName, { ...item, fullName })
      }
    },
    build(fullName: string, options: BuildOptions = {}): FakeBuild {
      const item = items.get(fullName) as FakeItem
      const { building = false, result = building ? null : 'SUCCESS', timestamp = world.now().getTime() } = options
      const isPipeline = item._class === CLASSES.pipeline
      const made: FakeBuild = {
        _class: isPipeline ? 'org.jenkinsci.plugins.workflow.job.WorkflowRun' : 'hudson.model.FreeStyleBuild',
        number: ++item.last,
        timestamp,
        duration: building ? 0 : (options.duration ?? 60_000),
        estimatedDuration: 60_000,
        result,
        building,
        actions: actionsOf(options),
        stages: isPipeline ? stagesOf(options.stages ?? [], timestamp, building) : undefined,
      }
      item.builds?.unshift(made)
      return made
    },
    finish(build: FakeBuild, result: string) {
      Object.assign(build, { building: false, result, duration: Math.max(0, world.now().getTime() - build.timestamp) })
      for (const stage of build.stages ?? []) if (stage.status === 'IN_PROGRESS') stage.status = result
    },
    deleteBuild(fullName: string, number: number) {
      const { builds = [] } = items.get(fullName) ?? {}
      const at = builds.findIndex((each) => each.number === number)
      if (at >= 0) builds.splice(at, 1)
    },
  }
  return world
}

function actionsOf({ commits = [], upstream }: BuildOptions): unknown[] {
  const cause = upstream
    ? {
        _class: 'hudson.model.Cause$UpstreamCause',
        shortDescription: `Started by upstream project ${upstream.project}`,
        upstreamProject: upstream.project,
        upstreamBuild: upstream.build,
      }
    : { _class: 'hudson.model.Cause$UserIdCause', shortDescription: 'Started by user Ada', userId: 'ada' }
  return [
    { _class: 'hudson.model.CauseAction', causes: [cause] },
    {},
    ...commits.map(({ sha, url, branch = 'refs/remotes/origin/main' }) => ({
      _class: 'hudson.plugins.git.util.BuildData',
      lastBuiltRevision: { SHA1: sha, branch: [{ SHA1: sha, name: branch }] },
      remoteUrls: [url].flat(),
    })),
  ]
}

const stagesOf = (names: readonly string[], start: number, isRunning: boolean): FakeStage[] =>
  names.map((name, index) => ({
    id: String(6 + index),
    name,
    execNode: '',
    status: isRunning && index === names.length - 1 ? 'IN_PROGRESS' : 'SUCCESS',
    startTimeMillis: start + index * 10_000,
    durationMillis: 9_500,
    pauseDurationMillis: 0,
  }))
