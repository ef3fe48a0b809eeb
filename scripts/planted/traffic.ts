import type { Plot } from './plot.ts'

export const traffic: readonly Plot[] = [
  {
    file: 'src/traffic/model/action.ts',
    tests: ['tests/traffic/pure.test.ts', 'tests/traffic/lint.test.ts'],
    defects: [
      ['weight: weights.current },', 'weight: weights.target },'],
      ['step === plan.steps.length - 1', 'step === plan.steps.length'],
      ['{ current: 100, target: 0 }', '{ current: 0, target: 100 }'],
      ['enabled && !(isFinalStep', 'enabled || !(isFinalStep'],
      ['(entry.weight as number) > 999', '(entry.weight as number) > 1000'],
      ['entries.length > 5', 'entries.length > 6'],
      ['identities.indexOf(identity) !== index', 'identities.indexOf(identity) > index'],
      ['(durationSeconds as number) <= 604800', '(durationSeconds as number) < 604800'],
      ['if (sum === 0) return', 'if (sum < 0) return'],
      ['kinds.length !== 1', 'kinds.length > 1'],
      ['enabled === true && isOneSided && entries.length > 1', 'isOneSided && entries.length > 1'],
      ['candidate.toLowerCase() === key.toLowerCase()', 'candidate === key'],
      ['/^HTTP_30[12]$/', '/^HTTP_30[0-9]$/'],
    ],
  },
  {
    file: 'src/traffic/model/health-check.ts',
    tests: ['src/traffic/model/health-check.test.ts'],
    defects: [
      ["(mirrored.protocolVersion === 'GRPC') === (targetGroup.protocolVersion === 'GRPC')", 'true'],
      ["isGrpc ? '12' : '200'", "isGrpc ? '200' : '12'"],
      ['  ...present(mirroredCheck(plan, mirrored)),\n', ''],
    ],
  },
]
