/** What a switch and its plan say, in words. */
import './traffic.css'
import type { AnswerTo } from '../api/ask.ts'
import { counted, duration } from '../parts/words.ts'

export type Switch = AnswerTo<'GET /v1/traffic-switches'>[number]
export type State = Switch['state']
export type Action = Switch['actions'][number]

/** As much of a plan as the pages show; one that cannot be read has no steps. */
export interface Plan {
  readonly current?: Side
  readonly target?: Side
  readonly advance?: 'manual' | 'auto'
  readonly mode?: 'apply' | 'observe'
  readonly dns?: { readonly hostname?: string; readonly quietMinutes: number }
  /** Left out where the plan has one route. */
  readonly routes?: readonly Route[]
  readonly steps: readonly Step[]
}
interface Side {
  readonly cluster: string
  readonly namespace: string
}
interface Route {
  readonly name: string
  readonly hostname?: string
  readonly current: { readonly ingress: { readonly host?: string } }
}
export interface Step {
  readonly weights: { readonly current: number; readonly target: number }
  readonly dwellSeconds: number
  readonly gates: readonly Gate[]
  readonly onFail?: 'pause' | 'rollback'
}
interface Gate {
  readonly kind: string
  readonly max?: number
  readonly minHealthy?: number
  readonly minRatio?: number
  readonly metric?: string
  readonly name?: string
  readonly min?: number
  readonly maxRatio?: number
}
export const planOf = ({ plan }: Switch): Plan => plan as Plan

/** The names whose records move, each once. */
export function hostsOf({ dns, routes }: Plan): readonly string[] {
  const hosts = routes?.map((route) => hostOf(route) ?? dns?.hostname) ?? [dns?.hostname]
  return [...new Set(hosts)].filter((host) => host !== undefined)
}
const hostOf = ({ hostname, current: { ingress } }: Route): string | undefined =>
  hostname ?? (ingress.host?.startsWith('*.') ? undefined : ingress.host)

const STATES: Readonly<Record<State, readonly [word: string, look: string]>> = {
  draft: ['draft', ''],
  preparing: ['preparing', 'accent'],
  prepared: ['prepared', 'accent'],
  shifting: ['shifting', 'accent'],
  paused: ['paused', 'attention'],
  switched: ['switched', 'good'],
  'dns-switched': ['DNS switched', 'good'],
  cleaning: ['cleaning up', 'accent'],
  'cleaned-up': ['finished', ''],
  'rolling-back': ['rolling back', 'attention'],
  'rolled-back': ['rolled back', 'bad'],
}
export const StateTag = ({ state }: { readonly state: State }) => {
  const [word, look] = STATES[state]
  return <span className={`tag ${look}`}>{word}</span>
}

/** The share of requests that the target gets at a step. */
export const shareOf = ({ weights: { current, target } }: Step): number =>
  current + target === 0 ? 0 : target / (current + target)

/** Before it is prepared and after it is taken back, everything goes to the current cluster. */
export function shareNow({ state, step, plan }: Switch): number {
  if (['draft', 'preparing', 'rolled-back'].includes(state)) return 0
  if (['switched', 'dns-switched', 'cleaned-up', 'cleaning'].includes(state)) return 1
  const now = (plan as Plan).steps[step]
  return now ? shareOf(now) : 0
}

export function Weights({ share, current = 'current', target = 'target' }: WeightsProps) {
  const there = Math.round(share * 100)
  return (
    <span className="weights">
      <span className="weights-bar" aria-hidden="true">
        <i style={{ width: `${there}%` }} />
      </span>
      <span className="small number">
        {100 - there} % {current}, {there} % {target}
      </span>
    </span>
  )
}
interface WeightsProps {
  readonly share: number
  readonly current?: string | undefined
  readonly target?: string | undefined
}

export function gateWords(gate: Gate): string {
  const { kind, max = 0, minHealthy = 1, minRatio = 0 } = gate
  switch (kind) {
    case 'cloudWatch':
    case 'prometheus':
      return metricWords(gate)
    case 'approval':
      return 'somebody approves'
    case 'incidents':
      return max === 0 ? 'no incident is opened' : `at most ${counted(max, 'incident')} opened`
    case 'failureRate':
      return `at most ${max * 100} % of deployments fail`
    case 'targetsHealthy':
      return `at least ${minHealthy} ${minHealthy === 1 ? 'target is' : 'targets are'} healthy${minRatio > 0 ? ` (${minRatio * 100} %)` : ''}`
    default:
      return kind
  }
}

const METRIC_NAMES = new Map([
  ['errorRate', 'the error rate'],
  ['latency', 'the latency'],
  ['requests', 'the number of requests'],
])

function metricWords({ metric = '', name = 'the query', max, min, maxRatio }: Gate): string {
  const bounds = [
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(maxRatio === undefined ? [] : [`at most ${maxRatio} times that of the current cluster`]),
  ]
  return `${METRIC_NAMES.get(metric) ?? name} of the target stays ${bounds.join(' and ')}`
}

export const dwellWords = ({ dwellSeconds }: Step): string =>
  dwellSeconds === 0 ? 'no waiting' : `stays ${duration(dwellSeconds / 60)} at least`
