/** Says what to do about a row that does not count, and where to do it. */
import type { Reason } from '../metric.ts'

/**
 * rules        scope configs, in one of the fields `rules`; `name` is the text that they should match
 * policy       the project's policy: with `policy`, the row would count
 * collection   what the blueprint collects, and since when
 * run          the last run, or another one
 * range        a longer time range
 * items        the rows themselves: those left out for `reason`
 */
export interface Cure {
  readonly kind: 'rules' | 'policy' | 'collection' | 'run' | 'range' | 'items'
  readonly rules?: readonly string[]
  readonly name?: string
  readonly policy?: string
  readonly reason?: Reason
}

interface Remedy {
  readonly remedy: string
  /** Null: nothing can be done in Weir. */
  readonly cure: Cure | null
}

const nothing = (remedy: string): Remedy => ({ remedy, cure: null })
const LONGER: Remedy = { remedy: 'Choose a longer range if it should count.', cure: { kind: 'range' } }

export const REMEDIES: Readonly<Record<Reason, Remedy>> = {
  pull_request_not_merged: nothing('Nothing to do: it counts once it is merged and deployed.'),
  bot_author: {
    remedy: 'The policy of this project leaves out pull requests of bots: choose another to count them.',
    cure: { kind: 'policy', policy: 'reference' },
  },
  not_calculated: { remedy: 'Run the project: its calculations have not seen it yet.', cure: { kind: 'run' } },
  no_git_history: {
    remedy: 'Let git be read: the last run says why it could not. It counts after the next run that can.',
    cure: { kind: 'run' },
  },
  no_merge_commit: {
    remedy: 'Choose the policy “squash-and-rebase”, which finds it by its own commits or by its message.',
    cure: { kind: 'policy', policy: 'squash-and-rebase' },
  },
  merge_commit_in_no_deployment: {
    remedy: 'It waits for a deployment; if it was squashed or rebased, choose the policy “squash-and-rebase”.',
    cure: { kind: 'policy', policy: 'squash-and-rebase' },
  },
  only_in_first_deployment: {
    remedy:
      'Choose the policy “first-deployment” to count what was merged in the 30 days before it; what was merged earlier stays out.',
    cure: { kind: 'policy', policy: 'first-deployment' },
  },
  only_in_other_environment: {
    remedy: 'If that environment is production, map it by a rule.',
    cure: { kind: 'rules', rules: ['envNamePattern', 'productionPattern', 'productionBranchPattern'] },
  },
  no_deployments: {
    remedy: 'Collect deployments, or map the environment that is production by a rule.',
    cure: {
      kind: 'rules',
      rules: ['envNamePattern', 'productionPattern', 'deploymentPattern', 'productionBranchPattern'],
    },
  },
  outside_time_range: LONGER,
  other_time: nothing('Nothing to do: a longer range says why it does not count there.'),
  not_successful: nothing('Nothing to do: only deployments that succeeded count.'),
  other_environment: {
    remedy: 'If that environment is production, map it by a rule.',
    cure: { kind: 'rules', rules: ['envNamePattern', 'productionPattern', 'productionBranchPattern'] },
  },
  not_finished: nothing('Nothing to do: it counts once it is finished.'),
  same_rollout: {
    remedy:
      'Nothing to do, unless these were two rollouts: keep them apart by a rule, or choose the policy “every-row”.',
    cure: { kind: 'policy', policy: 'every-row' },
  },
  no_deployment_before_incident: {
    remedy:
      'Collect from an earlier date, so that the deployment before it is known. By the policy “blame-by-service”, its component must name what is deployed.',
    cure: { kind: 'collection' },
  },
  deployment_outside_time_range: LONGER,
  not_resolved: nothing('Nothing to do: it counts once it is resolved.'),
  resolved: nothing('Nothing to do: only what is open counts here.'),
  created_after_range: nothing('Nothing to do: it belongs to a later range.'),
  no_duration: nothing('The tool tells no duration for it.'),
  clock_backwards: nothing('Correct the clocks of the tools.'),
  other_category: nothing('Nothing to do, unless its category belongs to the service: then choose it, too.'),
  other_component: nothing('Nothing to do: it is an incident of another service.'),
  no_result: nothing('Nothing to do: only what succeeded or failed counts.'),
}
