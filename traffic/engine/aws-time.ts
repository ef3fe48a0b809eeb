/** Dwell, quiet and TTL times are measured by the clock of AWS, because that of an operator's machine may be hours off. */
import type { EffectContext, Outside } from '../effects/effect.ts'
import { rulePicture } from '../effects/rule-effects.ts'
import { bringAbout, type Scope } from './bring-about.ts'
import type { Engine } from './engine-types.ts'
import type { Run } from './store.ts'

type Clocked = Pick<Outside, 'clock'>
type Timed = Pick<Engine, 'now'>

/** The engine with the time of AWS's last answer, as soon as there is one. */
export const onAwsTime = (engine: Engine, { clock }: Clocked): Engine => ({
  ...engine,
  now: () => (clock.last === undefined ? engine.now() : new Date(clock.last)),
})

/** The time at which the rules were last seen; a dwell time begins there. */
export const rulesSeenAt = (engine: Timed, { clock }: Clocked): Date =>
  clock.rules === undefined ? engine.now() : new Date(clock.rules)

/** Asks AWS for the time before a waiting time is judged. Without an answer nothing moves on, because the time is not known. */
export async function askTime(engine: Engine, run: Run, scope: Scope, context: EffectContext): Promise<void> {
  await bringAbout(engine, run, scope, {
    name: 'aws-time',
    async missing() {
      await rulePicture(context)
      return undefined
    },
  })
}

/** A larger difference cannot come from slow answers. */
const MOST_SKEW_MS = 30_000
const MINUTE_MS = 60_000

/** Describes how wrong the clock of this machine is; undefined if it is right, or if AWS has not answered. */
export function clockProblem(now: Date, { clock }: Clocked): string | undefined {
  if (clock.last === undefined) return undefined
  // AWS's last answer may be a while ago, because other calls took their time.
  const skew = now.getTime() - clock.last - (performance.now() - clock.heard)
  const size = Math.abs(skew)
  if (size <= MOST_SKEW_MS) return undefined
  const text = size < 2 * MINUTE_MS ? `${Math.round(size / 1000)} s` : `${Math.round(size / MINUTE_MS)} minutes`
  return `the clock of the machine that runs Weir is ${text} ${skew > 0 ? 'ahead of' : 'behind'} the clock of AWS: set it, for example with NTP. Dwell, quiet and TTL times go by AWS`
}
