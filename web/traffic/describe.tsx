/** Describes a switch and its plan in words. */
import './traffic.css'
import { useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'

export type Switch = AnswerTo<'GET /v1/traffic-switches'>[number]
export type Status = AnswerTo<'GET /v1/traffic-switches/{id}/live'>
type State = Switch['state']
export type Action = Switch['actions'][number]

/** The parts of a plan that the pages show. A plan that cannot be read has no steps. */
interface Plan {
  readonly current?: Side
  readonly target?: Side
  readonly mode?: 'apply' | 'gitops' | 'observe'
  readonly confirmRollback?: boolean
  readonly dns?: { readonly hostname?: string }
  readonly cleanup?: { readonly currentIngress?: 'keep-service' | 'delete-ingress' }
  /** Left out if the plan has only one route. */
  readonly routes?: readonly Route[]
  readonly steps: readonly Step[]
}
interface Side {
  readonly cluster: string
}
interface Route {
  readonly name: string
  readonly hostname?: string
  readonly current: { readonly ingress: { readonly host?: string } }
}
interface Step {
  readonly weights: { readonly current: number; readonly target: number }
  readonly gates: readonly { readonly kind: string }[]
}
export const planOf = ({ plan }: Switch): Plan => plan as Plan
export const namesOf = (of: Switch) => {
  const { current, target } = planOf(of)
  return { here: current?.cluster ?? 'the current cluster', there: target?.cluster ?? 'the target' }
}

/** The DNS names whose records change, each once. */
export function hostsOf({ dns, routes }: Plan): readonly string[] {
  const hosts = routes?.map((route) => hostOf(route) ?? dns?.hostname) ?? [dns?.hostname]
  return [...new Set(hosts)].filter((host) => host !== undefined)
}
const hostOf = ({ hostname, current: { ingress } }: Route): string | undefined =>
  hostname ?? (ingress.host?.startsWith('*.') ? undefined : ingress.host)

const LOOKS: Readonly<Record<State, readonly [word: string, look: string]>> = {
  draft: ['draft', ''],
  preparing: ['preparing', 'accent'],
  prepared: ['prepared', 'accent'],
  shifting: ['shifting', 'accent'],
  paused: ['paused', 'attention'],
  switched: ['switched', 'good'],
  'dns-switched': ['DNS switched', 'good'],
  cleaning: ['cleaning up', 'accent'],
  'cleaned-up': ['finished', 'good'],
  aborted: ['aborted', ''],
  'rolling-back': ['rolling back', 'attention'],
  'rolled-back': ['rolled back', 'bad'],
}
export const StateTag = ({ state }: { readonly state: State }) => {
  const [word, look] = LOOKS[state]
  return <span className={`tag ${look}`}>{word}</span>
}

export const isOver = (state: State): boolean => state === 'cleaned-up' || state === 'aborted'

/** The present status of a switch, asked again for as long as it can change. */
export const useStatus = ({ id, state }: Pick<Switch, 'id' | 'state'>, everyMs: number) =>
  useQuery({
    ...question('GET /v1/traffic-switches/{id}/live', { path: { id } }),
    refetchInterval: isOver(state) || state === 'draft' ? false : everyMs,
  })

/** Call this after any action on a switch. */
export const refreshSwitches = () =>
  refresh(
    'GET /v1/traffic-switches',
    'GET /v1/traffic-switches/{id}',
    'GET /v1/traffic-switches/{id}/journal',
    'GET /v1/traffic-switches/{id}/live',
  )

export const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `1 of 3 (90/10)`, because the word "step" is already beside it. */
export const stepText = (step: string): string => step.replace(/^step /, '')

/** The share of requests that the target gets in a step. */
export const shareOf = ({ weights: { current, target } }: Step): number =>
  current + target === 0 ? 0 : target / (current + target)

/** Reads weights such as `90/10`. */
export function shareOfText(weights: string): number {
  const [current = 0, target = 0] = weights.split('/').map(Number)
  return shareOf({ weights: { current, target }, gates: [] })
}

export const sameShare = (share: number) => ({ least: share, most: share })

interface SplitProps {
  readonly share: Status['share']
  readonly height?: number
}

/**
 * The target's share is at the right. A part that differs between rules is hatched, and an unknown share is empty. For people who
 * cannot see it, the words beside it say the same.
 */
export function Split({ share, height = 6 }: SplitProps) {
  if (share === null) return <span className="split unknown" style={{ height }} aria-hidden="true" />
  return (
    <span className="split" style={{ height }} aria-hidden="true">
      <i className="apart" style={{ width: `${(share.most - share.least) * 100}%` }} />
      <i style={{ width: `${share.least * 100}%` }} />
    </span>
  )
}
