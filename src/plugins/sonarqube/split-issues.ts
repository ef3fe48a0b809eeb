/** A first analysis may create more issues in one second than SonarQube lists. Then they are requested separately by kind. */
const SEVERITIES = ['BLOCKER', 'CRITICAL', 'MAJOR', 'MINOR', 'INFO']
const STATUSES = ['OPEN', 'CONFIRMED', 'REOPENED', 'RESOLVED', 'CLOSED']
const TYPES = ['CODE_SMELL', 'BUG', 'VULNERABILITY']

export const SPLIT_VALUES: readonly string[] = TYPES.flatMap((type) =>
  SEVERITIES.flatMap((severity) => STATUSES.map((status) => `${type} ${severity} ${status}`)),
)

export function splitQuery(value: string) {
  const [types = '', severities = '', statuses = ''] = value.split(' ')
  return { types, severities, statuses }
}
