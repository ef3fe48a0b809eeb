/** Jobs long enough to delay other requests; threads run them. Arguments and results are plain data. */
import { readConfigText, writeConfigText } from '../../config-as-code/config-file.ts'
import { readGroupFile } from '../../control-plane/groups/group-file.ts'
import { findGroups, matchPattern } from '../../plugin-kit/spec/patterns.ts'
import { lintPlan } from '../../traffic/lint/plan.ts'
import { planFromText, requirePlan } from '../../traffic/lint/require-plan.ts'
import { lintText } from '../../traffic/lint/text.ts'
import { readPlan } from '../../traffic/model/plan.ts'
import { diffSides } from '../../traffic/render/diff.ts'
import { renderPhase } from '../../traffic/render/render.ts'
import { simulate } from '../../traffic/render/simulate.ts'
import { manifestsIn } from '../../traffic/survey/pasted-cluster.ts'

export const jobs = {
  diffSides,
  findGroups,
  lintPlan,
  lintText,
  manifestsIn,
  matchPattern,
  planFromText,
  // These load all plugins, which the other jobs do not need.
  previewRules: async (...args: Parameters<typeof import('./preview-job.ts').previewRules>) =>
    (await import('./preview-job.ts')).previewRules(...args),
  readSentDelivery: async (...args: Parameters<typeof import('./delivery-job.ts').readSentDelivery>) =>
    (await import('./delivery-job.ts')).readSentDelivery(...args),
  runRoute: async (...args: Parameters<typeof import('./route-job.ts').runRoute>) =>
    (await import('./route-job.ts')).runRoute(...args),
  planFromValue: (value: unknown) => requirePlan(readPlan(value)),
  readConfigText,
  readGroupFile,
  renderPhase,
  simulate,
  writeConfigText,
}

export type Jobs = typeof jobs
export type JobName = keyof Jobs

/** Runs before the time of a job begins: loading all plugins takes longer than most jobs. */
export const load = async (job: JobName): Promise<void> => {
  if (job === 'previewRules') await import('./preview-job.ts')
  if (job === 'readSentDelivery') await import('./delivery-job.ts')
  if (job === 'runRoute') await import('./route-job.ts')
}
