import { isFinalStep } from '../model/action.ts'
import { type Finding, finding } from '../model/finding.ts'
import type { Plan } from '../model/plan.ts'

/** Finds gates on metrics that could never fail, or never pass. */
export function lintMetricGates(plan: Plan): readonly Finding[] {
  return plan.steps.flatMap((step, index) =>
    step.gates.flatMap((gate, number) => {
      if (gate.kind !== 'cloudWatch' && gate.kind !== 'prometheus') return []
      const path = `steps[${index}].gates[${number}]`
      const findings: Finding[] = []
      const isBounded = gate.max !== undefined || gate.min !== undefined
      if (!isBounded && gate.maxRatio === undefined)
        findings.push(finding('TS-Q01', path, 'the gate has neither max, min nor maxRatio'))
      if (gate.kind === 'prometheus' && gate.maxRatio !== undefined && gate.current === undefined)
        findings.push(finding('TS-Q01', `${path}.maxRatio`, 'there is no query for the current side'))
      const isAlone = isFinalStep(plan, index) || step.weights.current === 0
      if (isAlone && !isBounded && gate.maxRatio !== undefined)
        findings.push(finding('TS-Q01', `${path}.maxRatio`, 'the current side has no traffic in this step'))
      if (gate.failureLimit * gate.periodSeconds > step.dwellSeconds)
        findings.push(
          finding(
            'TS-Q02',
            path,
            `${gate.failureLimit} periods of ${gate.periodSeconds} s do not fit into a dwell time of ${step.dwellSeconds} s`,
          ),
        )
      return findings
    }),
  )
}
