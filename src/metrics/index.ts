/** Every metric, in the order of display. */
import { unknownName } from '../basics/nearest.ts'
import { buildDuration } from './definitions/build-duration.ts'
import { buildSuccessRate } from './definitions/build-success-rate.ts'
import { changeFailureRate } from './definitions/change-failure-rate.ts'
import { changeLeadTime } from './definitions/change-lead-time.ts'
import { deploymentFrequency } from './definitions/deployment-frequency.ts'
import { incidentAge } from './definitions/incident-age.ts'
import { issueLeadTime } from './definitions/issue-lead-time.ts'
import { issueThroughput } from './definitions/issue-throughput.ts'
import { pullRequestCodingTime } from './definitions/pull-request-coding-time.ts'
import { pullRequestCycleTime } from './definitions/pull-request-cycle-time.ts'
import { pullRequestDeployTime } from './definitions/pull-request-deploy-time.ts'
import { pullRequestPickupTime } from './definitions/pull-request-pickup-time.ts'
import { pullRequestReviewTime } from './definitions/pull-request-review-time.ts'
import { pullRequestSize } from './definitions/pull-request-size.ts'
import { pullRequestThroughput } from './definitions/pull-request-throughput.ts'
import { recoveryTime } from './definitions/recovery-time.ts'
import { reviewDepth } from './definitions/review-depth.ts'
import { reworkRate } from './definitions/rework-rate.ts'
import { serviceChangeFailureRate } from './definitions/service-change-failure-rate.ts'
import { serviceIncidentCount } from './definitions/service-incident-count.ts'
import { serviceRecoveryTime } from './definitions/service-recovery-time.ts'
import { timeToRestore } from './definitions/time-to-restore.ts'
import type { Metric } from './metric.ts'

export const fourKeys: readonly Metric[] = [deploymentFrequency, changeLeadTime, changeFailureRate, recoveryTime]

/** Metrics about the incidents that a category and a component choose. */
export const serviceReport: readonly Metric[] = [serviceIncidentCount, serviceChangeFailureRate, serviceRecoveryTime]

export const metrics: readonly Metric[] = [
  ...fourKeys,
  reworkRate,
  timeToRestore,
  pullRequestCycleTime,
  pullRequestCodingTime,
  pullRequestPickupTime,
  pullRequestReviewTime,
  pullRequestDeployTime,
  pullRequestSize,
  reviewDepth,
  pullRequestThroughput,
  issueLeadTime,
  issueThroughput,
  incidentAge,
  buildDuration,
  buildSuccessRate,
  ...serviceReport,
]

export function metricNamed(name: string): Metric {
  const metric = metrics.find((each) => each.name === name)
  if (metric) return metric
  throw unknownName(
    'metric',
    name,
    metrics.map((each) => each.name),
  )
}
