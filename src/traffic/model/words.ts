/** Texts about a plan for people, in the terminal, on the page and in the journal. Steps count from 0, which prepares. */
import { counted } from '../../basics/counted.ts'
import type { Gate, Plan, Step } from './plan.ts'

export const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
/** Adds a full stop, unless the text, perhaps from a vendor, already ends with one or with a list. */
export const ended = (text: string): string => (/[.!?:\n]$/.test(text) ? text : `${text}.`)

export const weightsOf = ({ weights: { current, target } }: Pick<Step, 'weights'>): string => `${current}/${target}`

/** `step 1 of 3 (90/10)` */
export function stepWords({ steps }: Pick<Plan, 'steps'>, number: number): string {
  const step = steps[number]
  return step === undefined ? `step ${number}` : `step ${number} of ${steps.length - 1} (${weightsOf(step)})`
}

const percent = (share: number): string => {
  const rounded = Math.round(share * 100)
  if (share > 0 && rounded === 0) return '<1 %'
  return share < 1 && rounded === 100 ? '>99 %' : `${rounded} %`
}

/** The part of the requests that the target gets: one number, or the least and the most if rules differ. */
export interface Share {
  readonly least: number
  readonly most: number
}

export const sameShare = (share: number): Share => ({ least: share, most: share })

/** Weights need not add up to 100. */
export const shareOfStep = ({ weights: { current, target } }: Pick<Step, 'weights'>): number =>
  target / Math.max(1, current + target)

/** `90 % blue, 10 % green` */
export function shareWords({ current, target }: Pick<Plan, 'current' | 'target'>, { least, most }: Share): string {
  if (least !== most) return `${percent(least)} to ${percent(most)} ${target.cluster}, the rest ${current.cluster}`
  if (most === 0) return `100 % ${current.cluster}`
  if (least === 1) return `100 % ${target.cluster}`
  return `${percent(1 - least)} ${current.cluster}, ${percent(least)} ${target.cluster}`
}

export function secondsWords(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const METRICS = { errorRate: 'the error rate', latency: 'the latency', requests: 'the number of requests' } as const

/** The condition of a gate, in words. */
export function gateWords(gate: Gate): string {
  switch (gate.kind) {
    case 'approval':
      return 'somebody approves'
    case 'incidents':
      return gate.max === 0 ? 'no incident is opened' : `at most ${counted(gate.max, 'incident')} opened`
    case 'failureRate':
      return `at most ${percent(gate.max)} of deployments fail`
    case 'targetsHealthy': {
      const ratio = gate.minRatio > 0 ? `, and ${percent(gate.minRatio)} of all` : ''
      return `at least ${counted(gate.minHealthy, 'target is', 'targets are')} healthy${ratio}`
    }
    case 'cloudWatch':
      return `${METRICS[gate.metric]} of the target stays ${boundWords(gate)}`
    case 'prometheus':
      return `${gate.name ?? 'the query'} of the target stays ${boundWords(gate)}`
  }
}

type Bounds = Pick<Extract<Gate, { kind: 'cloudWatch' }>, 'max' | 'min' | 'maxRatio'>

const boundWords = ({ max, min, maxRatio }: Bounds): string =>
  [
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(maxRatio === undefined ? [] : [`at most ${maxRatio} times that of the current cluster`]),
  ].join(' and ')

/** The command line's option for a field: `overrideGates` is `--override-gates`. */
export const flagOf = (field: string): string =>
  `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** Each of these skips a check, and needs a reason. */
export const SKIPS = ['overrideGates', 'uncheckedDns', 'skipQuiet', 'acceptLive', 'directly'] as const

export const skipping = (field: (typeof SKIPS)[number]): string => `${flagOf(field)} --reason "why"`
