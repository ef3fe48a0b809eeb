/** The rules about issues and commit links in a scope config, prepared for use. */
import { z } from 'zod'
import { byName } from '../../basics/by-name.ts'
import {
  compilePattern,
  incidentTextRule,
  optionalPattern,
  type Pattern,
  patternText,
  type Settings,
  type SpokenName,
} from '../../plugin-kit/index.ts'
import { isCommitPattern, type RepoCommit, repoCommitIn } from './commit-links.ts'

const word = z.string('must be text').max(255).nullish()
/** Statuses by the key of their category: new, indeterminate, done. */
const statusMappings = z.record(z.string(), z.looseObject({ standardStatus: word }), 'must be an object')
/** Mappings by the name of the type. */
export const typeMappings = z
  .record(
    z.string(),
    z.looseObject({ standardType: word, statusMappings: statusMappings.nullish() }, 'must be an object'),
    'must be an object: the name of each type, and what it counts as',
  )
  .nullable()
export const repoPatterns = z
  .array(
    z.looseObject({ pattern: z.string('must be text').max(10_000).nullish(), regex: patternText.nullish() }),
    'must be a list of { pattern, regex }',
  )
  .nullable()

const ofType = (standardType: string, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { standardType }]))

/** The default names of types in Jira Software and Jira Service Management. */
export const STANDARD_TYPES: z.output<typeof typeMappings> = {
  ...ofType('REQUIREMENT', 'Story', 'Feature', 'New Feature', 'Improvement'),
  ...ofType('BUG', 'Bug', 'Defect'),
  ...ofType('INCIDENT', 'Incident', '[System] Incident', 'Production Incident', 'Outage'),
}

const STANDARD_STATUS: Readonly<Record<string, string>> = byName({ new: 'TODO', done: 'DONE' })
export const standardStatus = (category: string): string => STANDARD_STATUS[category] ?? 'IN_PROGRESS'

/** The categories that every Jira has, whether or not an issue is in them. */
const CATEGORIES = ['undefined', 'new', 'indeterminate', 'done']

export function namesInMappings(value: unknown): SpokenName[] {
  const mappings = Object.entries((value ?? {}) as NonNullable<z.output<typeof typeMappings>>)
  return mappings.flatMap(([type, { standardType, statusMappings: statuses }]) => [
    { place: type, kind: 'types', name: type, meaning: standardType },
    ...Object.entries(statuses ?? {})
      .filter(([category]) => !CATEGORIES.includes(category))
      .map(([category, { standardStatus: meaning }]) => ({
        place: `${type}.statusMappings.${category}`,
        kind: 'statuses',
        name: category,
        isGroup: true,
        meaning,
      })),
  ])
}

export type Rules = ReturnType<typeof issueRules>
export function issueRules(settings: Settings) {
  const types = new Map(Object.entries((settings.typeMappings ?? {}) as NonNullable<z.output<typeof typeMappings>>))
  const shaPattern = optionalPattern(settings.remotelinkCommitShaPattern, 'remotelinkCommitShaPattern')
  const commitPatterns = ((settings.remotelinkRepoPattern ?? []) as NonNullable<z.output<typeof repoPatterns>>)
    .filter(({ regex }) => regex)
    .map(({ regex }) => compilePattern(regex as string, 'remotelinkRepoPattern'))
    .filter(isCommitPattern)
  const repoCommitOf = (url: string): RepoCommit | undefined =>
    commitPatterns.map((pattern) => repoCommitIn(pattern, url)).find((found) => found !== undefined)
  return {
    storyPointField: String(settings.storyPointField ?? ''),
    dueDateField: String(settings.dueDateField || 'duedate'),
    applicationType: String(settings.applicationType ?? ''),
    /** Tells whether a type has a meaning beyond being a subtask: by a rule, or because Jira itself calls it an incident. */
    isMapped: (type: string): boolean => Boolean(types.get(type)?.standardType) || type.toUpperCase() === 'INCIDENT',
    standardType: (type: string): string => (types.get(type)?.standardType || type).toUpperCase(),
    typeOrText: incidentTextRule(settings),
    standardStatus: (type: string, category: string): string =>
      statusOf(types.get(type)?.statusMappings, category) ?? standardStatus(category),
    repoCommitOf,
    /** False if no link can name a commit. */
    findsCommits: Boolean(shaPattern) || commitPatterns.length > 0,
    commitShaIn: (url: string): string | undefined =>
      (shaPattern && firstGroup(shaPattern, url)) || repoCommitOf(url)?.commit_sha,
  }
}

const statusOf = (mappings: z.output<typeof statusMappings> | null | undefined, category: string) =>
  mappings && Object.hasOwn(mappings, category) ? mappings[category]?.standardStatus : undefined

function firstGroup(pattern: Pattern, text: string): string | undefined {
  const matcher = pattern.matcher(text)
  return matcher.find() && matcher.groupCount() > 0 ? (matcher.group(1) ?? undefined) : undefined
}
