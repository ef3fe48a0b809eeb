import { TextInput, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import type { SettingField as Field } from '../../api/description.ts'
import type {} from '../../api/sources.ts'
import { count, counted } from '../../parts/words.ts'
import { type Name, type Names, useMatches } from './asked.ts'

export interface Suggestion {
  readonly value: unknown
  readonly reason: string
  readonly isFound: boolean
}

interface PatternFieldProps {
  readonly field: Field
  readonly value: string
  readonly names: Names | undefined
  /** Another pattern: this one only applies to its matches. */
  readonly within?: string | undefined
  readonly suggestion?: Suggestion | undefined
  readonly isReadOnly: boolean
  onChange(value: string): void
}

/** A pattern, and below it the existing names that it matches. */
export function PatternField({ field, value, names, within, suggestion, isReadOnly, onChange }: PatternFieldProps) {
  const all = namesOf(names, field.names)
  const outer = useMatches(within ?? '', namesIn(all))
  const among = within === undefined ? all : all.filter((_, place) => outer.data?.matches[place])
  const { data } = useMatches(value, namesIn(among))
  const problem = value !== '' ? data?.problem : null
  const isAll = value === '' && field.isAllWhenEmpty === true
  const matched = among.filter((_, place) => isAll || data?.matches[place])
  return (
    <div className="rule">
      <TextInput
        label={field.label}
        description={field.help}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        error={problem && <Problem pattern={value} message={problem.message} at={problem.at} />}
        readOnly={isReadOnly}
        maxLength={field.size ?? 10_000}
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: 'mono' }}
      />
      {field.names && (
        <div>
          {!problem && among.length > 0 && (
            <Hits
              matched={matched}
              isEmpty={value === ''}
              others={among.filter((name) => !matched.includes(name))}
              onAdd={isReadOnly ? undefined : ({ pattern }) => onChange(value === '' ? pattern : `${value}|${pattern}`)}
            />
          )}
          {!problem && among.length === 0 && names && (
            <p className="small faint hits">{emptyWords(names, field, within)}</p>
          )}
        </div>
      )}
      {suggestion?.isFound && !isReadOnly && matched.length === 0 && suggestion.value !== value && (
        <p className="small quiet hits">
          <span>
            Suggested: <span className="mono">{String(suggestion.value)}</span>
          </span>
          <span>{suggestion.reason}</span>
          <UnstyledButton className="link" onClick={() => onChange(String(suggestion.value))}>
            Use it<span className="unseen"> for {field.label}</span>
          </UnstyledButton>
        </p>
      )}
    </div>
  )
}

const namesIn = (names: readonly Name[]) => names.map(({ name }) => name)

/** A pattern does not distinguish a workflow and a job of the same name. */
function namesOf(names: Names | undefined, kinds: readonly string[] = []): readonly Name[] {
  const all = kinds.flatMap((kind) => names?.kinds.find((each) => each.kind === kind)?.names ?? [])
  const together = new Map<string, Name>()
  for (const each of all) {
    const known = together.get(each.name)
    together.set(each.name, known ? { ...known, count: (known.count ?? 0) + (each.count ?? 0) } : each)
  }
  return [...together.values()]
}

function emptyWords(names: Names, field: Field, within: string | undefined): string {
  if (within !== undefined) return 'The rule above matches nothing, so there is nothing to choose among.'
  const titles = names.kinds.filter(({ kind }) => field.names?.includes(kind)).map(({ title }) => title)
  return `No ${titles.join(' and no ')} ${names.basis === 'stored' ? 'are stored' : 'were found'} yet.`
}

/** Repeats the pattern and marks the character that is wrong. */
function Problem({
  pattern,
  message,
  at,
}: {
  readonly pattern: string
  readonly message: string
  readonly at: number
}) {
  return (
    <>
      Not a pattern: {message}, at character {at + 1}.{' '}
      <span className="mono" aria-hidden style={{ wordBreak: 'break-all' }}>
        {pattern.slice(Math.max(0, at - 30), at)}
        <mark className="wrong">{pattern[at] ?? ' '}</mark>
        {pattern.slice(at + 1, at + 31)}
      </span>
    </>
  )
}

const SHOWN = 8

interface HitsProps {
  readonly matched: readonly Name[]
  readonly others: readonly Name[]
  /** The user has not written a pattern yet. */
  readonly isEmpty: boolean
  readonly onAdd: ((name: Name) => void) | undefined
}

function Hits({ matched, others, isEmpty, onAdd }: HitsProps) {
  const [isWhole, setWhole] = useState(false)
  const most = isWhole ? Number.POSITIVE_INFINITY : SHOWN
  const hidden = Math.max(0, matched.length - most) + Math.max(0, others.length - most)
  return (
    <div className="hits small">
      <span className="unseen" aria-live="polite">
        {matched.length} match, {others.length} do not.
      </span>
      {matched.slice(0, most).map((name) => (
        <Chip key={`${name.name} ${name.label}`} {...name} isMatched />
      ))}
      <span className="quiet">
        {matched.length === 0
          ? isEmpty
            ? 'There are'
            : 'Nothing matches'
          : wordOf(matched.length, 'matches', 'match')}
        {others.length === 0 || matched.length === 0 ? '' : ';'}
        {matched.length === 0 && !isEmpty ? '; there are' : ''}
      </span>
      {others.slice(0, most).map((name) =>
        onAdd ? (
          <UnstyledButton key={name.name} onClick={() => onAdd(name)} title={`Let it match ${name.name} too`}>
            <Chip {...name} />
          </UnstyledButton>
        ) : (
          <Chip key={name.name} {...name} />
        ),
      )}
      {others.length > 0 && matched.length > 0 && (
        <span className="quiet">{wordOf(others.length, 'does not', 'do not')}.</span>
      )}
      {(hidden > 0 || isWhole) && (
        <UnstyledButton className="link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `${counted(hidden, 'name')} more`}
        </UnstyledButton>
      )}
    </div>
  )
}

const wordOf = (length: number, one: string, many: string) => (length === 1 ? one : many)

function Chip({ name, count: amount, isMatched = false }: Name & { readonly isMatched?: boolean }) {
  return (
    <span className={`tag chip ${isMatched ? 'accent' : ''}`} title={name}>
      <bdi className="cut">{name}</bdi>
      {amount !== null && <span className="number">{count(amount)}</span>}
    </span>
  )
}
