/** Finds targets that were met in the period before and are missed now. */
import type { Cause, KeyAnswer, Whose } from './answer.ts'
import { nameOf } from './key-clauses.ts'

/** Whose answer it is, after "of": a project by its name. */
const ofWhom = ({ name }: Whose): string => (name === null ? 'all projects' : name)

export const lostTargets = (keys: readonly KeyAnswer[], whose: Whose): Cause[] =>
  keys.flatMap((key): Cause[] => {
    const { target, before, now, better } = key
    if (target?.state !== 'missed' || before.value === null) return []
    const wasMet = better === 'higher' ? before.value >= target.value : before.value <= target.value
    if (!wasMet) return []
    return [
      {
        kind: 'target',
        sentence: `The ${nameOf(key)} of ${ofWhom(whose)} met its target of ${target.inWords} before and misses it now, with ${now.inWords}.`,
        remedy: 'Look at the items that weigh most, or set a target that fits.',
        page: whose.kind === 'project' ? `/projects/${encodeURIComponent(whose.name ?? '')}` : null,
        cost: Math.max(1, now.counted),
        details: [],
      },
    ]
  })
