import { TrafficError } from './finding.ts'

export const STATES = [
  'draft',
  'preparing',
  'prepared',
  'shifting',
  'paused',
  'switched',
  'dns-switched',
  'cleaning',
  'cleaned-up',
  'aborted',
  'rolling-back',
  'rolled-back',
] as const
export type State = (typeof STATES)[number]

/** In these states nothing of the switch is left, and nothing can be done with it any more. */
const OVER: ReadonlySet<State> = new Set(['cleaned-up', 'aborted'])
export const isOver = (state: State): boolean => OVER.has(state)

/** The states as people read them. */
export const STATE_WORDS: Readonly<Record<State, string>> = {
  draft: 'draft',
  preparing: 'preparing',
  prepared: 'prepared',
  shifting: 'shifting',
  paused: 'paused',
  switched: 'switched',
  'dns-switched': 'DNS switched',
  cleaning: 'cleaning up',
  'cleaned-up': 'finished',
  aborted: 'aborted',
  'rolling-back': 'rolling back',
  'rolled-back': 'rolled back',
}

export const ACTIONS = ['prepare', 'advance', 'pause', 'rollback', 'dns', 'cleanup', 'abort'] as const
export type Action = (typeof ACTIONS)[number]

interface Transition {
  /** The state while outside calls are under way; a restart finds it and continues. */
  readonly via: State
  readonly to: State
}

const back: Transition = { via: 'rolling-back', to: 'rolled-back' }
const clean: Transition = { via: 'cleaning', to: 'cleaned-up' }
const giveUp: Transition = { via: 'cleaning', to: 'aborted' }

/** Every legal transition; all others are refused. */
const TRANSITIONS: Readonly<Record<Action, Partial<Readonly<Record<State, Transition>>>>> = {
  prepare: {
    draft: { via: 'preparing', to: 'prepared' },
    preparing: { via: 'preparing', to: 'prepared' },
    'rolled-back': { via: 'preparing', to: 'prepared' },
  },
  // `to` is decided by the step: the next one, or switched after the last.
  advance: {
    prepared: { via: 'shifting', to: 'shifting' },
    shifting: { via: 'shifting', to: 'shifting' },
    paused: { via: 'shifting', to: 'shifting' },
  },
  pause: { shifting: { via: 'paused', to: 'paused' } },
  rollback: {
    draft: back,
    preparing: back,
    prepared: back,
    shifting: back,
    paused: back,
    switched: back,
    'dns-switched': back,
    cleaning: back,
    'rolling-back': back,
    'rolled-back': back,
  },
  // A rollback that waits for the record may also be left towards the cluster to which the record leads.
  dns: {
    switched: { via: 'switched', to: 'dns-switched' },
    'rolling-back': { via: 'rolling-back', to: 'dns-switched' },
  },
  cleanup: { 'dns-switched': clean, cleaning: clean },
  abort: {
    draft: giveUp,
    preparing: giveUp,
    prepared: giveUp,
    'rolling-back': giveUp,
    'rolled-back': giveUp,
    cleaning: giveUp,
  },
}

export function transitionOf(state: State, action: Action): Transition {
  const transition = TRANSITIONS[action][state]
  if (transition !== undefined) return transition
  throw new TrafficError('conflict', `Cannot ${action} while the switch is ${state}. ${reasonAgainst(state, action)}`)
}

/** The actions that are possible in a state. */
export const actionsFrom = (state: State): readonly Action[] =>
  ACTIONS.filter((action) => TRANSITIONS[action][state] !== undefined)

function reasonAgainst(state: State, action: Action): string {
  if (action === 'cleanup' && ['prepared', 'rolled-back', 'draft'].includes(state))
    return 'Traffic is on the current cluster. To remove what prepare made: npx weir traffic abort ID'
  if (action === 'cleanup') return 'Clean-up comes after the DNS switch is confirmed.'
  if (state === 'aborted')
    return 'It was aborted: all traffic is on the current cluster, and nothing of the switch is left. To try again, prepare the plan as a new switch: npx weir traffic prepare PLAN'
  if (state === 'cleaned-up')
    return 'It is finished and nothing of it is left. To go back, make a plan in the other direction and prepare that: npx weir traffic reverse ID'
  const allowed = actionsFrom(state)
  return `Possible now: ${allowed.join(', ') || 'nothing'}.`
}
