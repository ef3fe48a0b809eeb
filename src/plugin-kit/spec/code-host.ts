/** Rules that scope configs of all code hosts share: by labels, by names of jobs and environments; and the fields of their form. */

import { z } from 'zod'
import { compilePattern, type Pattern } from '../../basics/user-patterns.ts'
import type { Field, Fields, Settings } from './fields.ts'
import { deliveryRules, incidentTextRule, matches, optionalPattern, patternText } from './patterns.ts'
import type { NameKind } from './rule-names.ts'

/** An empty pattern matches nothing, except that without a production pattern everything is production. */
export function codeHostRules(settings: Settings) {
  const pattern = (field: string) => optionalPattern(settings[field], field)
  const lastMatch = (field: string) => {
    const compiled = pattern(field)
    return (labels: readonly string[]): string => labels.findLast((label) => matches(compiled, label)) ?? ''
  }
  const types = [
    ['REQUIREMENT', pattern('issueTypeRequirement')],
    ['BUG', pattern('issueTypeBug')],
    ['INCIDENT', pattern('issueTypeIncident')],
  ] as const
  const environment = pattern('envNamePattern')
  return {
    ...deliveryRules(settings),
    severityOf: lastMatch('issueSeverity'),
    priorityOf: lastMatch('issuePriority'),
    componentOf: lastMatch('issueComponent'),
    pullRequestTypeOf: lastMatch('prType'),
    pullRequestComponentOf: lastMatch('prComponent'),
    /** The last label that matches decides; one that matches several types counts as the first listed. */
    issueTypeOf(labels: readonly string[]): string {
      const last = labels.findLast((label) => types.some(([, type]) => matches(type, label)))
      return types.find(([, type]) => last !== undefined && matches(type, last))?.[0] ?? ''
    },
    typeOrText: incidentTextRule(settings),
    /**
     * INCIDENT if that is the issue's type in the tool itself, whatever its labels say; another type only if the pattern of that
     * type matches the word. Empty for other types of the tool.
     */
    typeOfIncident(own: string | null | undefined): string {
      if (own?.toUpperCase() !== 'INCIDENT') return ''
      return types.find(([, type]) => matches(type, own) || matches(type, own.toLowerCase()))?.[0] ?? 'INCIDENT'
    },
    isProduction: (name: string): boolean => matches(environment, name),
    closingPattern: closingPatterns(settings.prBodyClosePattern),
  }
}

/** The pattern contains `%s` for the repository, so it is compiled once for each repository. */
function closingPatterns(source: string | null | undefined): (fullName: string) => Pattern | null {
  const compile = (fullName: string) =>
    compilePattern(
      (source ?? '').replace('%s', () => fullName),
      'prBodyClosePattern',
    )
  if (!source) return () => null
  const compiled = new Map([['owner/repo', compile('owner/repo')]])
  return (fullName) => {
    const found = compiled.get(fullName) ?? compile(fullName)
    compiled.set(fullName, found)
    return found
  }
}

export const patternField = (label: string, suggestion: string, more: Partial<Field> = {}): Field => ({
  kind: 'regex',
  label,
  size: 255,
  isOptional: true,
  suggestion,
  ...(more as object),
})
export const inPanel = (panel: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, panel }]))

/** `kind`: the kind of names to which the branches of runs belong. */
export const productionBranchField = (kind: string, more: Partial<Field> = {}): Field =>
  patternField('Branches that deploy to production', '', {
    help: 'Matched against the branch or tag of a run; a job has that of its run. With a pattern of names, both must match. Alone, every run on such a branch is a production deployment.',
    names: [kind],
    looksLike: '(?i)^(main|master|trunk|production|prod|live)$',
    isOnRequest: true,
    ...(more as object),
  })

/** A field for every tracker that gives titles and descriptions of issues. */
export const incidentTextField = patternField('Text of incidents', '', {
  help: 'Searched in the title and the description. An issue that matches is an incident, unless its type or a label says what it is.',
  textsOf: 'issueTitles',
  isOnRequest: true,
})
/** Titles of issues, for suggestions of `incidentTextField`. That rule searches the description as well. */
export const issueTitles = ({
  description,
  ...titles
}: Pick<NameKind, 'table' | 'column' | 'scope' | 'through'> & { readonly description: string }): NameKind => ({
  title: 'titles of issues',
  ...titles,
  alsoIn: [description],
  words: ['outage', 'downtime', 'incident', 'postmortem', 'post-mortem', 'service disruption'],
})

const TYPE_HELP = 'Matched against each label. The last label that matches gives the type.'
const LABEL_HELP = 'Matched against each label. The value is the last label that matches, as a whole.'
/** Rules about labels of issues; `kind` is the plugin's name for this kind of names. */
export function issueLabelFields(kind: string): Fields {
  const labels = { help: LABEL_HELP, names: [kind] }
  const types = { help: TYPE_HELP, names: [kind] }
  return inPanel('Issue tracking', {
    issueTypeRequirement: patternField('Labels of requirements', '(?i)(feat|feature|proposal|requirement)', {
      ...types,
      looksLike: '(?i)(enhancement|improvement|story|epic)',
    }),
    issueTypeBug: patternField('Labels of bugs', '(?i)(bug|broken)', {
      ...types,
      looksLike: '(?i)(defect|regression|crash)',
    }),
    issueTypeIncident: patternField('Labels of incidents', '(?i)(incident|failure)', {
      ...types,
      looksLike: '(?i)(outage|downtime|post-?mortem|^sev-?[0-9])',
    }),
    issueTextIncident: incidentTextField,
    issuePriority: patternField('Labels of priority', '(?i)(highest|high|medium|low|p0|p1|p2|p3)', labels),
    issueComponent: patternField('Labels of components', '(?i)component(.*)', labels),
    issueSeverity: patternField('Labels of severity', '(?i)severity(.*)', labels),
  })
}

/** `what`: the host's word for a pull request. */
export function reviewLabelFields(kind: string, what: string): Fields {
  const labels = { help: LABEL_HELP, names: [kind] }
  return inPanel('Code review', {
    prType: patternField(`Labels of ${what} types`, '(?i)type(.*)', labels),
    prComponent: patternField(`Labels of ${what} components`, '(?i)component(.*)', labels),
  })
}

const tagComparison = z
  .looseObject(
    {
      tagsLimit: z.int('must be a whole number').min(0).max(10_000).nullish(),
      tagsPattern: patternText.nullish(),
      tagsOrder: z.string('must be text').max(255).nullish(),
    },
    'must be an object',
  )
  .nullable()

export const historyFields = (what: string): Fields =>
  inPanel('Additional settings', {
    refdiff: {
      kind: 'json',
      schema: tagComparison,
      label: 'Releases to compare',
      help: 'tagsLimit: how many of the newest tags; tagsPattern: which tags count.',
      isOptional: true,
      isOnRequest: true,
      suggestion: { tagsLimit: 10, tagsPattern: '/v\\d+\\.\\d+(\\.\\d+(-rc)*\\d*)*$/' },
    },
    prSizeExcludedFileExtensions: {
      kind: 'strings',
      label: `File extensions that do not count towards the size of a ${what}`,
      isOptional: true,
      isOnRequest: true,
      suggestion: [],
    },
  })
