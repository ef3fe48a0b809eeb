/** Jobs long enough to delay other requests; threads run them. Arguments and results are plain data. */
const patterns = () => import('../../plugin-kit/spec/patterns.ts')
const configFile = () => import('../../config-as-code/config-file.ts')
const groupFile = () => import('../../control-plane/groups/group-file.ts')
const traffic = () => import('../routes/traffic/jobs.ts')

/** The module of each job, which exports it by its name. A thread loads only those of the jobs that it gets. */
const MODULES = {
  diffSides: traffic,
  findGroups: patterns,
  lintPlan: traffic,
  lintText: traffic,
  manifestsIn: traffic,
  matchPattern: patterns,
  planFromText: traffic,
  planFromValue: traffic,
  previewRules: () => import('./preview-job.ts'),
  readConfigText: configFile,
  readGroupFile: groupFile,
  readSentDelivery: () => import('./delivery-job.ts'),
  renderPhase: traffic,
  runRoute: () => import('./route-job.ts'),
  simulate: traffic,
  writeConfigText: configFile,
}

export type JobName = keyof typeof MODULES
type ModuleOf<Name extends JobName> = Awaited<ReturnType<(typeof MODULES)[Name]>>
type AnyJob = (...args: never[]) => unknown
export type Jobs = {
  [Name in JobName]: ModuleOf<Name> extends Readonly<Record<Name, infer Job extends AnyJob>> ? Job : never
}

/** Its time begins afterwards: loading all plugins takes longer than most jobs. */
export async function loadJob(name: JobName): Promise<(...args: readonly unknown[]) => unknown> {
  const module: Readonly<Record<string, unknown>> = await MODULES[name]()
  return module[name] as (...args: readonly unknown[]) => unknown
}
