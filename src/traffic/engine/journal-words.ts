/** The journal as sentences. The fields that programs read stay beside them: kind, effect and detail. */
import { byName } from '../../basics/by-name.ts'
import type { Plan } from '../model/plan.ts'
import { ended, stepWords, upper } from '../model/words.ts'
import type { JournalRow } from './store.ts'

/** For each effect: what it is about to do, what holds when it is done, and the wording if there was nothing to do. */
export const EFFECTS: Readonly<Record<string, readonly [begin: string, done: string, already?: string]>> = byName({
  preflight: ['look whether the plan fits what is live', 'The plan fits what is live'],
  guards: ['look at what guards the paths', 'Nothing that guards the paths is in the way'],
  'target-ingress': ['put the target Ingress into multi-cluster mode', 'The target Ingress is ready'],
  'target-group': ['make the target group', 'The target group exists'],
  'target-group-attributes': ['set the attributes of the target group', 'The target group has its attributes'],
  binding: ['bind the pods of the target to the target group', 'The binding exists'],
  attach: ['let the current Ingress use the weighted action', 'The current Ingress uses the weighted action'],
  'rule-verified': ['wait until every rule has the weights', 'Every rule of the load balancer has the weights'],
  'targets-healthy': ['wait for healthy targets', 'Enough targets are healthy'],
  'health-before': ['look at the targets before they get requests', 'Enough targets are healthy to get requests'],
  weights: ['write the weights into the current Ingress', 'The current Ingress has the weights'],
  'balancer-directly': [
    'look whether the rules must be changed directly',
    'The rules were changed directly at the load balancer',
    'No rule has to be changed directly',
  ],
  'restore-ingress': [
    'look whether the current Ingress must be made again',
    'The current Ingress was made again',
    'The current Ingress is there',
  ],
  'rollback-weights': ['take all weight back in the current Ingress', 'The current Ingress gives the target no weight'],
  'rule-rolled-back': ['wait until no rule sends the target anything', 'No rule sends the target anything'],
  'git-rolled-back': ['commit the way back', 'The way back is committed'],
  'proposals-withdrawn': ['take back what was proposed', 'Nothing is proposed any more'],
  'ingress-deletable': ['look whether the current Ingress may be deleted', 'The current Ingress may be deleted'],
  detach: ['take the action out of the current Ingress', 'The current Ingress does not use the action'],
  'fields-released': ['give the fields of the Ingress back', 'Weir owns no field of the Ingress'],
  'rule-released': ['wait until no rule names the target group', 'No rule names the target group'],
  'binding-deleted': ['delete the binding', 'The binding is gone'],
  'targets-deregistered': ['wait until the targets are deregistered', 'No target is registered'],
  'ingress-kept': ['keep the current Ingress as it is', 'The current Ingress is kept as it was before it is deleted'],
  'rules-as-left': ['look whether somebody changed the rules', 'The rules are as Weir left them'],
  'aws-time': ['ask AWS for the time', 'The time of AWS is known'],
  'target-group-deleted': ['delete the target group', 'The target group is gone'],
  'target-ingress-deleted': [
    'remove the target Ingress if prepare made it',
    'The target Ingress that prepare made is gone',
    'No Ingress that prepare made is left',
  ],
  'multi-cluster-removed': [
    'take multi-cluster mode off where this switch set it',
    'Multi-cluster mode is off where this switch had set it',
    'Multi-cluster mode is as it was before the switch',
  ],
  'dns-current': ['look where the host name leads', 'The host name leads to the current cluster'],
  'dns-target': ['look where the host name leads', 'The host name leads to the target cluster'],
  'dns-record': ['write the record', 'The record is written'],
  'dns-in-sync': ['wait until all name servers have the record', 'All name servers have the record'],
  'dns-shared': ['look where the host name leads', 'The host name leads to both clusters'],
  'dns-undo': ['put the record back', 'The record is as it was'],
  'dns-ttl': ['wait until the old answer of the name is forgotten', 'The old answer of the name is forgotten'],
})

const NOTES: Readonly<Record<string, string>> = byName({
  approved: 'Approved the step',
  reason: 'Gave a reason',
  problem: 'Met a problem',
  alarm: 'Alarm',
  'gate-failed': 'A gate failed',
  'plan-edited': 'Noticed an edited plan',
  'routes-lost': 'Cannot read what the switch keeps of its routes',
  'drift-overridden': 'Wrote over what somebody else had written',
  overrideGates: 'Continued without the gates',
  uncheckedDns: 'Did not look the host name up',
  skipQuiet: 'Did not wait for the quiet time',
  acceptLive: 'Started from the live value although it drifted',
  directly: 'Allowed to change the rules directly at the load balancer',
})

const readable = (name: string): string => name.replaceAll('-', ' ')

/** Splits a key such as `weights (cart)` or `dns-record-50` into the effect and the words for its route and share. */
function effectParts(key: string): { readonly name: string; readonly of: string } {
  const at = key.endsWith(')') ? key.indexOf(' (') : -1
  const route = at < 0 ? undefined : key.slice(at + 2, -1)
  const whole = at < 0 ? key : key.slice(0, at)
  const share = /-(\d+)$/.exec(whole)?.[1]
  const name = share === undefined ? whole : whole.slice(0, -share.length - 1)
  const of = [...(share === undefined ? [] : [`${share} %`]), ...(route === undefined ? [] : [`route ${route}`])]
  return { name, of: of.length === 0 ? '' : ` (${of.join(', ')})` }
}

export const beginningOf = (key: string): string => {
  const { name, of } = effectParts(key)
  return `${EFFECTS[name]?.[0] ?? `do ${readable(name)}`}${of}`
}

/** Effects that only look or wait change nothing, so `as it was before` is left out. */
const ONLY_LOOKS = /^(?:look|wait) /

/** Details that are stored when an effect has nothing special to tell. */
const PLAIN = new Set(['done', 'was already done', ''])

function doneOf(key: string, detail: string): string {
  const { name, of } = effectParts(key)
  if (!PLAIN.has(detail)) return ended(`${upper(detail)}${of}`)
  const isOld = detail === 'was already done'
  const [begin = '', done, already] = EFFECTS[name] ?? []
  if (isOld && already !== undefined) return `${already}${of}.`
  return `${done ?? `Done: ${readable(name)}`}${of}${isOld && !ONLY_LOOKS.test(begin) ? ', as it was before' : ''}.`
}

type Entry = Pick<JournalRow, 'action' | 'kind' | 'effect' | 'detail'>

function stepIn(detail: string): number | undefined {
  try {
    const { step } = JSON.parse(detail) as { step?: number }
    return step
  } catch {
    return undefined
  }
}

/** Sentences by state, or by action and state where they differ. STEP stands for the step that the entry is about. */
const STATES: Readonly<Record<string, string>> = byName({
  draft: 'Corrected the plan of the draft.',
  'create draft': 'Stored the plan as a draft.',
  preparing: 'Began to prepare.',
  prepared: 'Prepared: everything is attached, and no request moves yet.',
  shifting: 'Began STEP.',
  verified: 'STEP is in force.',
  paused: 'Paused: the weights stay as they are.',
  switched: 'Switched: every request goes to the target cluster.',
  'dns-switched': 'The host name leads to the load balancer of the target cluster.',
  'rolling-back': 'Began to roll back.',
  'rolled-back': 'Rolled back: every request goes to the current cluster.',
  cleaning: 'Began to clean up.',
  'abort cleaning': 'Began to abort.',
  'cleaned-up': 'Finished: nothing of the switch is left.',
  aborted: 'Aborted: nothing of the switch is left, and all traffic stayed.',
})

function stateWords({ action, effect, detail }: Entry, plan: Pick<Plan, 'steps'>): string {
  const step = stepIn(detail)
  const words = step === undefined ? 'a step' : stepWords(plan, step)
  const sentence = STATES[`${action} ${effect}`] ?? STATES[effect] ?? `${readable(effect)}.`
  return upper(sentence.replace('STEP', words))
}

export function journalSentence(entry: Entry, plan: Pick<Plan, 'steps'>): string {
  const { kind, effect, detail } = entry
  if (kind === 'state') return stateWords(entry, plan)
  if (kind === 'intent') return `Began to ${beginningOf(effect)}.`
  if (kind === 'result') return doneOf(effect, detail)
  if (kind === 'failure') return ended(`Could not ${beginningOf(effect)}: ${detail}`)
  if (kind === 'gate')
    return ended(`Gate ${effect} ${detail.replace(/^pass:/, 'passed:').replace(/^fail:/, 'failed:')}`)
  const words = effect.split(',').map((name) => NOTES[name] ?? upper(readable(name)))
  return detail === '' ? `${words.join('. ')}.` : ended(`${words.join('. ')}: ${detail}`)
}
