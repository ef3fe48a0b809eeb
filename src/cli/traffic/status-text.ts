import { healthWords, type SwitchStatus } from '../../../traffic/engine/status.ts'
import type { describeSwitch } from '../../../traffic/engine/store.ts'

type Described = Pick<ReturnType<typeof describeSwitch>, 'id' | 'problem' | 'actions'>

/** The status of a switch, as the terminal prints it. */
export function describeStatus({ id, problem, actions }: Described, status: SwitchStatus): string {
  const { headline, step, steps, routes, gates, drift, working, next, clock } = status
  const present = steps.find((each) => ['in-force', 'under-way', 'not-in-force', 'not-known'].includes(each.status))
  const lines = [
    ...(step === null ? [] : [`${step}${present === undefined ? '' : ` is ${present.status.replaceAll('-', ' ')}`}`]),
    ...(problem === null ? [] : [`problem: ${problem}`]),
    ...routes.map(({ route, says, health }) => {
      const targets = health === null ? '' : `; ${healthWords(health)}`
      return `live${routes.length === 1 ? '' : ` ${route}`}: ${says}${targets}`
    }),
    ...(drift === null || problem !== null ? [] : [`drift: ${drift}`]),
    ...gates.map(({ gate, verdict, message, asks }) => `gate ${gate}: ${verdict}, ${message} (asks that ${asks})`),
    ...(clock === null ? [] : [`clock: ${clock}`]),
    ...(working === null ? [] : [`now: ${working}`]),
    `next: ${next.says}`,
    `possible now: ${actions.join(', ') || 'nothing'}`,
  ]
  return [`${id}: ${headline}`, ...lines.map((line) => `  ${line}`)].join('\n')
}
