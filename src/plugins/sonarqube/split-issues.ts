/** More issues than SonarQube lists may be of one second, that of a first analysis: then kinds of issues are asked for one by one. */
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
