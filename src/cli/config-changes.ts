/** Shows the changes of a plan or an apply as lines for people. */
import type { ChangedField, ConfigChange } from '../config-as-code/change.ts'
import type { SelectorConfig } from '../config-as-code/document.ts'

const SIGN = { create: '+', update: '~' }
const LONGEST = 300
const MOST_NAMED = 5

export const changeLines = ({ action, subject, fields, notes = [] }: ConfigChange): string[] => [
  `${SIGN[action]} ${subject}`,
  ...fields.flatMap((field) => fieldLines(field, action === 'create')).map((line) => `    ${line}`),
  ...notes.map((note) => `    ${note}`),
]

function fieldLines({ name, before, after }: ChangedField, isNew: boolean): string[] {
  if (name !== 'selectors')
    return [
      `${name}: ${isNew ? shortened(textOf(after)) : `${shortened(textOf(before))} → ${shortened(textOf(after))}`}`,
    ]
  const [was, is] = [before, after].map((all) => ((all ?? []) as Partial<SelectorConfig>[]).map(selectorText))
  const lacking = (all: readonly string[] = [], others: readonly string[] = []) =>
    all.filter((each) => !others.includes(each))
  return [
    'selectors:',
    ...lacking(was, is).map((line) => `  - ${line}`),
    ...lacking(is, was).map((line) => `  + ${line}`),
  ]
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** `github/main: acme/*, other/tool, except acme/play-*, scope config rules` */
function selectorText({ connection, scopes = [], except = [], archived, topic, scopeConfig }: Partial<SelectorConfig>) {
  const names = scopes.map((each) => (typeof each === 'string' ? each : String(each.fullName ?? each.name ?? 'one')))
  return [
    `${connection}: ${few(names)}`,
    ...(except.length > 0 ? [`except ${few(except)}`] : []),
    ...(archived ? ['archived ones too'] : []),
    ...(topic === undefined ? [] : [`topic ${topic}`]),
    ...(scopeConfig === undefined ? [] : [`scope config ${scopeConfig}`]),
  ].join(', ')
}

const few = (names: readonly string[]): string => {
  const more = names.length - MOST_NAMED
  return more > 0 ? `${names.slice(0, MOST_NAMED).join(', ')} and ${more} more` : names.join(', ')
}
