/** Previews what rules about issues would make of the stored issues. */
import { sql } from 'kysely'
import { among } from '../../database/pieces.ts'
import { COUNTED_TYPES, typeOrText } from '../../domain/issue-types.ts'
import {
  type Columns,
  type Decision,
  hasRule,
  type Matcher,
  matcherOf,
  own,
  type PatternName,
  type Rules,
  type RulesInForce,
  ruleAfter,
  type Source,
  type Subject,
  type Subjects,
} from './preview-rules.ts'

/** A small page, because descriptions can be long. */
const PAGE = 500
const BY_LABEL = [
  ['issueTypeRequirement', 'REQUIREMENT'],
  ['issueTypeBug', 'BUG'],
  ['issueTypeIncident', 'INCIDENT'],
] as const
const BY_TEXT = 'issueTextIncident'

export function issueSources(subjects: Subjects, rules: Rules): Source[] {
  for (const name of [...BY_LABEL.map(([rule]) => rule), BY_TEXT] as const) matcherOf(rules[name] ?? '', name)
  const boards = own('boards', subjects)
  const isAsked = BY_LABEL.some(([rule]) => rules[rule] !== undefined) || rules[BY_TEXT] !== undefined
  if (!isAsked && rules.typeMappings === undefined) return []
  const onBoard = sql`select min(board_id) from board_issues b where b.issue_id = i.id and b.board_id in (${boards})`
  return [
    {
      table: 'issues',
      pageSize: PAGE,
      rows: (after) => sql`select id, (${onBoard}) as scope, original_type, title, description, type,
          case when is_subtask then 'yes' else '' end as subtask
        from issues i where id in (select issue_id from board_issues where board_id in (${boards}))
        and id > ${after} order by id limit ${sql.lit(PAGE)}`,
      more: {
        by: 'id',
        read: (ids) => sql`select issue_id as id, label_name as text from issue_labels
          where ${among(sql`issue_id`, ids)} order by label_name`,
      },
      decide: (subject, actual) => decideIssue(rules, subject, actual),
    },
  ]
}

function decideIssue(rules: Rules, subject: Subject, actual?: Columns): Decision {
  const { row, inForce } = subject
  const { type = '', title = '', description = '', original_type = '' } = row
  const isGiven = (rule: keyof Rules) => rules[rule] !== undefined && hasRule(inForce, rule)
  const told = toldType(rules, subject)
  const contains = (text: Matcher | null) => () => text !== null && [title, description].some(text)
  const isOfText = contains(ruleAfter(rules, inForce, BY_TEXT) ?? null)
  const after = actual?.type ?? typeOrText(told, isOfText)
  // Whether the text or the type made it an incident is decided by the labels and types that are known here.
  const isByText = after === 'INCIDENT' && told !== 'INCIDENT' && isOfText()
  // This is judged by the stored row and not by the rules in force, because a run may not have applied them yet.
  const wasByText =
    type === 'INCIDENT' &&
    inForce !== undefined &&
    contains(matcherOf(inForce.rules[BY_TEXT] ?? '', BY_TEXT))() &&
    toldBefore(subject) !== 'INCIDENT'
  const effects = COUNTED_TYPES.flatMap((word) => {
    const was = type === word && !(word === 'INCIDENT' && wasByText)
    const effect = { was, is: after === word && !(word === 'INCIDENT' && isByText), name: original_type }
    const rule = BY_LABEL.find(([, each]) => each === word)?.[0] as PatternName
    return [
      ...(isGiven('typeMappings') ? [{ rule: `typeMappings.${word}`, ...effect }] : []),
      ...(isGiven(rule) && !isTyped(rules, inForce) ? [{ rule, ...effect }] : []),
    ]
  })
  const byText = { rule: BY_TEXT, was: wasByText, is: isByText, name: title }
  return { after: { type: after }, effects: [...effects, ...(isGiven(BY_TEXT) ? [byText] : [])] }
}

/** Tells whether the types of the tool decide, and not labels. */
const isTyped = (rules: Rules, inForce: RulesInForce | undefined) =>
  inForce ? hasRule(inForce, 'typeMappings') : rules.typeMappings !== undefined

/** Returns the type that the rules in force now would give. */
const toldBefore = (subject: Subject) =>
  toldType({}, { ...subject, inForce: subject.inForce && { ...subject.inForce, after: subject.inForce.rules } })

/** Returns the type that the tool's own type or a label gives. */
function toldType(rules: Rules, { row, inForce, more }: Subject): string {
  const { type = '', original_type = '', subtask } = row
  if (isTyped(rules, inForce)) {
    const mappings = inForce ? inForce.after.typeMappings : rules.typeMappings
    const meaning = new Map(Object.entries(mappings ?? {})).get(original_type)?.standardType
    // A type without a mapping keeps its name, in capitals.
    return meaning ? meaning.toUpperCase() : subtask ? 'SUBTASK' : original_type.toUpperCase()
  }
  const types = BY_LABEL.flatMap(([rule, word]) => {
    const pattern = ruleAfter(rules, inForce, rule)
    return pattern === undefined || !hasRule(inForce, rule) ? [] : [{ word, pattern }]
  })
  if (types.length === 0) return inForce ? original_type : type
  // The original type holds the labels in their order, or the type if the tool has types besides labels.
  const words = original_type.split(',')
  const labels = [...words, ...more.filter((label) => !words.includes(label))]
  const byLabel = labels.reduce((last, label) => types.find(({ pattern }) => pattern?.(label))?.word ?? last, '')
  const ownType = COUNTED_TYPES.find((word) => word === original_type && !more.includes(word)) ?? ''
  if (inForce) return ownType === 'INCIDENT' ? ownType : byLabel || ownType
  const isGoverned = types.some(({ word }) => word === type)
  return byLabel || (isGoverned ? '' : type)
}
