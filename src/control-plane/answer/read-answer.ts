/** Reads the whole answer for a range and the period before it. Each metric is read once, for both. */
import type { Answer, Period, Whose } from '../../metrics/answer/answer.ts'
import { bucketFor, periodBefore } from '../../metrics/answer/calendar.ts'
import { whatToLookAt } from '../../metrics/answer/heaviest.ts'
import { type KeyRead, keyAnswer } from '../../metrics/answer/keys.ts'
import { lostTargets } from '../../metrics/answer/lost-targets.ts'
import { findingsOfParts } from '../../metrics/answer/part-findings.ts'
import { sentenceOf } from '../../metrics/answer/sentence.ts'
import { timelineOf } from '../../metrics/answer/timeline.ts'
import { whereTimeGoes } from '../../metrics/answer/where-time-goes.ts'
import { changeFailureRate } from '../../metrics/definitions/change-failure-rate.ts'
import { changeLeadTime } from '../../metrics/definitions/change-lead-time.ts'
import { deploymentFrequency } from '../../metrics/definitions/deployment-frequency.ts'
import { recoveryTime } from '../../metrics/definitions/recovery-time.ts'
import { reworkRate } from '../../metrics/definitions/rework-rate.ts'
import type { Metric } from '../../metrics/metric.ts'
import { checkRange } from '../../metrics/read/read.ts'
import { type Asked, projectsOf } from '../../metrics/whole.ts'
import { causesOf, mostCostlyFirst } from '../attention/attention.ts'
import type { Measured } from '../projects/measure.ts'
import { howSure } from './how-sure.ts'
import { readKeys } from './read-keys.ts'

interface AnswerQuestion {
  readonly whose: Whose
  readonly filter: Asked
  /** Says where the items of a metric are, as an address of `/v1`. */
  readonly itemsAt: (metric: string) => string
  readonly today: Date
}

export async function readAnswer(context: Measured, question: AnswerQuestion): Promise<Answer> {
  const { whose, filter, itemsAt, today } = question
  checkRange(filter)
  const range: Period = { from: filter.from, to: filter.to }
  const before = periodBefore(range)
  const reads = await readKeys(context, filter, before)
  const bucket = bucketFor(range)
  const readOf = (metric: Metric) => reads.find((read) => read.metric.name === metric.name) as KeyRead
  const countedOf = (metric: Metric) => readOf(metric).now.counted
  const marks = {
    leadTime: countedOf(changeLeadTime),
    frequency: countedOf(deploymentFrequency),
    failures: countedOf(changeFailureRate),
    rework: countedOf(reworkRate),
    recovery: countedOf(recoveryTime),
  }
  const keys = reads.map((read) => keyAnswer(read, { filter, bucket, today, items: itemsAt(read.metric.name) }))
  const where = await whereTimeGoes(context.database, readOf(changeLeadTime))
  const look = await whatToLookAt(context.database, filter, reads)
  const projects = projectsOf(filter)
  const sure = await howSure(context, { filter, reads })
  const causes = await causesOf(context, { projects, ...range, environment: filter.environment })
  return {
    whose,
    environment: filter.environment,
    range,
    before,
    projects: projects.length,
    sentence: sentenceOf({ keys, where }),
    keys,
    when: timelineOf(marks, range, bucket, today),
    where,
    look,
    attention: mostCostlyFirst([...causes, ...lostTargets(keys, whose)]),
    sure,
    findings: findingsOfParts({ keys, where, look, sure }),
  }
}
