import { deliveryRules, incidentTextRule, type Settings } from '../../plugin-kit/index.ts'

const LISTS = [
  ['TODO', 'issueStatusTodo'],
  ['IN_PROGRESS', 'issueStatusInProgress'],
  ['DONE', 'issueStatusDone'],
  ['OTHER', 'issueStatusOther'],
] as const

const wordsIn = (list: unknown): string[] =>
  String(list ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

/** Prepares the rules. If several lists name a state, the last list decides. */
export function rules(settings: Settings) {
  const statuses = new Map(LISTS.flatMap(([status, field]) => wordsIn(settings[field]).map((word) => [word, status])))
  return {
    ...deliveryRules(settings),
    typeOrText: incidentTextRule(settings),
    statusOf: (state: string): string => statuses.get(state) ?? '',
  }
}
