/** Tells what happens next with a switch, and when. */
import { answerOf, type Plan } from '../model/plan.ts'
import { drivesDns } from '../model/record-sets.ts'
import { hostsOf, routesOf } from '../model/routes.ts'
import { isOver } from '../model/state.ts'
import { secondsWords, stepWords, upper } from '../model/words.ts'
import type { Live } from './live-status.ts'
import { isLeased, type SwitchRow } from './store.ts'

export interface Next {
  readonly says: string
  /** The earliest moment; null if no time decides. */
  readonly at: Date | null
  /** The gate that decides; null if none does. */
  readonly gate: string | null
}

const soon = (says: string): Next => ({ says, at: null, gate: null })

export function nextOf(row: SwitchRow, plan: Plan, live: Live, secondsLeft: number): Next {
  const { state } = row
  if (isOver(state)) return soon('Nothing: the switch is over.')
  const isWorking = isLeased(row)
  switch (state) {
    case 'draft':
      return soon('Prepare it: Weir makes the target group and the binding, and attaches them. No request moves yet.')
    case 'preparing':
      return soon(isWorking ? 'Weir prepares.' : 'Preparing was interrupted: prepare again to continue, or abort.')
    case 'rolling-back':
      return soon(
        isWorking
          ? 'Weir takes all traffic back.'
          : 'The running server repeats the rollback until the rules and the host name follow. You may also repeat it.',
      )
    case 'rolled-back':
      return soon('Prepare it again when the reason is mended, or abort to remove what prepare made.')
    case 'paused':
      return failedNext(row, plan, live) ?? soon('Nothing moves until somebody advances or rolls back.')
    case 'switched':
      return soon(recordWords(plan))
    case 'dns-switched':
      return cleanUpNext(row, plan, live)
    case 'cleaning':
      if (isWorking) return soon('Weir cleans up.')
      return soon(
        row.dns_confirmed_at === null
          ? 'The abort was interrupted: abort again to continue, or roll back.'
          : 'Cleaning up was interrupted: clean up again to continue, or roll back.',
      )
    default:
      return row.verified_at === null ? unverified(row, plan, isWorking) : stepNext(row, plan, live, secondsLeft)
  }
}

function unverified(row: SwitchRow, plan: Plan, isWorking: boolean): Next {
  const step = stepWords(plan, row.step)
  if (isWorking) return soon(`Weir waits until every rule has the weights of ${step}.`)
  return soon(
    plan.advance === 'auto'
      ? `The running server continues ${step}.`
      : `${upper(step)} was interrupted: advance again to continue, or roll back.`,
  )
}

/** A gate that fails decides at once. A switch that is already paused, or has moved nothing yet, just stays. */
function failedNext({ state, step }: SwitchRow, plan: Plan, { gates }: Live): Next | undefined {
  const failed = gates.find(({ verdict }) => verdict === 'fail')
  if (failed === undefined) return undefined
  const isBack = state !== 'prepared' && answerOf(plan.steps[step]!) === 'rollback'
  const stays =
    state === 'paused'
      ? 'Nothing moves until it passes and somebody advances, or until somebody rolls back.'
      : 'Nothing moves until it passes.'
  const what = isBack ? 'Weir rolls back.' : state === 'shifting' ? 'Weir pauses.' : stays
  return { says: `Gate ${failed.gate} has failed: ${failed.message}. ${what}`, at: null, gate: failed.gate }
}

/** Before the dwell time is over, gates that have not passed may still pass. */
function stepNext(row: SwitchRow, plan: Plan, live: Live, secondsLeft: number): Next {
  const failed = failedNext(row, plan, live)
  if (failed !== undefined) return failed
  const { gates } = live
  const at = secondsLeft > 0 ? new Date(row.verified_at!.getTime() + plan.steps[row.step]!.dwellSeconds * 1000) : null
  const open = gates.find(({ verdict }) => verdict !== 'pass')
  const next = row.step + 1
  const what = next < plan.steps.length ? upper(stepWords(plan, next)) : 'The end of the switch'
  const who = plan.advance === 'auto' ? 'comes by itself' : 'comes when somebody advances'
  const when = at === null ? '' : `, in ${secondsWords(secondsLeft)} at the earliest`
  const gate = open === undefined ? '' : `, and only when gate ${open.gate} passes (now: ${open.message})`
  return { says: `${what} ${who}${when}${gate}.`, at, gate: open?.gate ?? null }
}

function recordWords(plan: Plan): string {
  const names = hostsOf(plan).filter((host) => host !== '')
  const what = `${names.length > 1 ? 'the records' : 'the record'} of ${names.join(' and ') || 'the host name'}`
  const to = `to the load balancer of ${plan.target.cluster}`
  return routesOf(plan).some(drivesDns)
    ? `Confirm DNS: Weir moves ${what} ${to}.`
    : `Move ${what} ${to}, then confirm DNS.`
}

function cleanUpNext(row: SwitchRow, plan: Plan, { now }: Live): Next {
  const at = new Date((row.dns_confirmed_at ?? now).getTime() + plan.dns.quietMinutes * 60_000)
  const left = (at.getTime() - now.getTime()) / 1000
  if (left <= 0) return soon('Clean up: Weir removes the rules, the binding and the target group.')
  const says = `Clean up, in ${secondsWords(left)} at the earliest: until then resolvers and long connections may still use the old load balancer.`
  return { says, at, gate: null }
}
