import { setTimeout as sleep } from 'node:timers/promises'
import { FAILURE_LIMIT } from '../effects/balancer-effects.ts'
import type { EffectContext } from '../effects/effect.ts'
import { rulePicture, targetWeight } from '../effects/rule-effects.ts'
import type { Engine } from './engine-types.ts'

export interface Alarm {
  readonly text: string
  /** True if at least one route has no healthy target. */
  readonly isNothingHealthy: boolean
}

/** Finds target groups that have weight but too few healthy targets in several looks in a row. */
export async function alarmOf(engine: Engine, contexts: readonly EffectContext[]): Promise<Alarm | undefined> {
  const found = await Promise.all(contexts.map((context) => alarmOfRoute(engine, context)))
  const alarms = found.filter((each) => each !== undefined)
  if (alarms.length === 0) return undefined
  return {
    text: `Targets fail under load: ${alarms.map(({ text }) => text).join('; ')}.`,
    isNothingHealthy: alarms.some(({ isNothingHealthy }) => isNothingHealthy),
  }
}

async function alarmOfRoute(engine: Engine, { plan, outside }: EffectContext): Promise<Alarm | undefined> {
  const group = plan.route === undefined ? 'the target group' : `the target group of route ${plan.route.name}`
  const picture = await rulePicture({ plan, outside })
  if (picture.arn === undefined || targetWeight(picture) === 0) return undefined
  for (let failures = 0; ; await sleep(engine.pollMs)) {
    const { healthy, total } = await outside.balancer.health(picture.arn)
    if (healthy >= plan.targetGroup.minHealthy) return undefined
    if (++failures < FAILURE_LIMIT) continue
    const text =
      total === 0
        ? `${group} has weight ${targetWeight(picture)} and no targets`
        : `${group} has weight ${targetWeight(picture)} and ${healthy} of ${total} targets are healthy, ${plan.targetGroup.minHealthy} needed`
    return { text, isNothingHealthy: healthy === 0 }
  }
}
