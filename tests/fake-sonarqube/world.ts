/** The data of a SonarQube: projects with issues, hotspots, files and a quality gate, and people. */
export interface FakeProject {
  readonly key: string
  name: string
  readonly analyses: { readonly date: Date; readonly revision: string }[]
  issues: FakeIssue[]
  hotspots: FakeHotspot[]
  files: FakeFile[]
  gate: string
}
export interface FakeIssue {
  readonly key: string
  readonly created: Date
  updated: Date
  status: string
  readonly severity: string
  readonly type: string
  readonly file: string
  readonly lines: readonly number[]
}
export interface FakeHotspot {
  readonly key: string
  readonly created: Date
  updated: Date
  status: string
}
export interface FakeFile {
  readonly path: string
  measures: Readonly<Record<string, string>>
}

export function createWorld() {
  const world = {
    now: () => new Date(),
    projects: [] as FakeProject[],
    users: [{ login: 'ada', name: 'Ada', active: true, local: true }] as object[],
  }
  let last = 100_000
  const nextKey = () => `AY${++last}`
  return Object.assign(world, {
    addProject(key: string, name = key): FakeProject {
      const project: FakeProject = { key, name, analyses: [], issues: [], hotspots: [], files: [], gate: 'OK' }
      world.projects.push(project)
      return project
    },
    analyse(project: FakeProject, revision: string) {
      project.analyses.unshift({ date: world.now(), revision })
    },
    addIssue(project: FakeProject, values: Partial<FakeIssue> = {}): FakeIssue {
      const made: FakeIssue = {
        key: nextKey(),
        created: world.now(),
        updated: world.now(),
        status: 'OPEN',
        severity: 'MAJOR',
        type: 'CODE_SMELL',
        file: 'src/a.ts',
        lines: [1],
        ...values,
      }
      project.issues.push(made)
      return made
    },
    addHotspot(project: FakeProject): FakeHotspot {
      const made = { key: nextKey(), created: world.now(), updated: world.now(), status: 'TO_REVIEW' }
      project.hotspots.push(made)
      return made
    },
    setFile(project: FakeProject, path: string, measures: Readonly<Record<string, string>>) {
      const known = project.files.find((each) => each.path === path)
      if (known) known.measures = measures
      else project.files.push({ path, measures })
    },
  })
}
export type World = ReturnType<typeof createWorld>
