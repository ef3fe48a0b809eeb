import { Select } from '@mantine/core'
import type { SettingField as Field } from '../../api/description.ts'
import type {} from '../../api/sources.ts'
import { right, Table } from '../../parts/table.tsx'
import { count } from '../../parts/words.ts'
import type { Name, Names } from './asked.ts'
import type { Suggestion } from './pattern-field.tsx'

type Mapping = {
  readonly standardType?: string | null
  readonly statusMappings?: Readonly<Record<string, { readonly standardStatus?: string | null }>> | null
}
type Mappings = Readonly<Record<string, Mapping>>

interface TypeMappingsProps {
  readonly field: Field
  readonly value: unknown
  readonly names: Names | undefined
  readonly suggestion?: Suggestion | undefined
  readonly isReadOnly: boolean
  onChange(value: Mappings): void
}

const TYPES = [
  { value: 'REQUIREMENT', label: 'Requirement' },
  { value: 'BUG', label: 'Bug' },
  { value: 'INCIDENT', label: 'Incident' },
]
const STATUSES = [
  { value: 'TODO', label: 'To do' },
  { value: 'IN_PROGRESS', label: 'In progress' },
  { value: 'DONE', label: 'Done' },
  { value: 'OTHER', label: 'Other' },
]
/** Keeps values that somebody stored by other means. */
const withOwn = (choices: readonly { value: string; label: string }[], own: string | null | undefined) =>
  !own || choices.some(({ value }) => value === own) ? [...choices] : [...choices, { value: own, label: own }]

/** Every type that exists or already has a mapping, and what each counts as. */
export function TypeMappings({ field, value, names, suggestion, isReadOnly, onChange }: TypeMappingsProps) {
  const mappings = (value ?? {}) as Mappings
  const kind = (name: string) => names?.kinds.find((each) => each.kind === name)?.names ?? []
  const there = kind('types')
  const spoken = Object.keys(mappings).filter((name) => !there.some((each) => each.name === name))
  const rows = [...there, ...spoken.map((name) => ({ name, count: 0 }))]
  const groups = Map.groupBy(kind('statuses'), ({ group }) => group)
  const set = (name: string, change: Mapping) => {
    const { [name]: before = {}, ...rest } = mappings
    const next = { ...before, ...change }
    const isSaid = next.standardType || Object.keys(next.statusMappings ?? {}).length > 0
    onChange(isSaid ? { ...rest, [name]: next } : rest)
  }
  const isSuggestionNew = suggestion && JSON.stringify(suggestion.value) !== JSON.stringify(value ?? {})
  return (
    <div className="rule">
      <h3>{field.label}</h3>
      <p className="small quiet" style={{ margin: '2px 0 8px' }}>
        A type that counts as nothing keeps its own name.
      </p>
      {isSuggestionNew && !isReadOnly && (
        <p className="small quiet" style={{ marginBottom: 8 }}>
          {suggestion.reason}{' '}
          <button type="button" className="link" onClick={() => onChange({ ...(suggestion.value as Mappings) })}>
            Use what they say
          </button>
        </p>
      )}
      <div className="scroll">
        <Table heads={['Type', right('Issues'), 'Counts as', ...[...groups.values()].map(listed)]}>
          {rows.map(({ name, count: amount }) => (
            <tr key={name}>
              <td style={{ fontWeight: 500 }}>
                <bdi>{name}</bdi>
              </td>
              <td className="right">{amount === null ? '' : count(amount)}</td>
              <td>
                <Select
                  aria-label={`${name} counts as`}
                  data={withOwn(TYPES, mappings[name]?.standardType)}
                  value={mappings[name]?.standardType ?? null}
                  onChange={(standardType) => set(name, { standardType })}
                  placeholder="nothing"
                  clearable
                  disabled={isReadOnly}
                  size="xs"
                  w={150}
                />
              </td>
              {[...groups.keys()].map((group) => (
                <td key={group}>
                  <Select
                    aria-label={`${name} in ${group} is`}
                    data={withOwn(STATUSES, mappings[name]?.statusMappings?.[group]?.standardStatus)}
                    value={mappings[name]?.statusMappings?.[group]?.standardStatus ?? null}
                    onChange={(standardStatus) => {
                      const { [group]: _, ...others } = mappings[name]?.statusMappings ?? {}
                      const statusMappings = standardStatus ? { ...others, [group]: { standardStatus } } : others
                      set(name, { statusMappings })
                    }}
                    placeholder="as it is"
                    clearable
                    disabled={isReadOnly}
                    size="xs"
                    w={140}
                  />
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </div>
      {rows.length === 0 && (
        <p className="small faint">No issue types are known yet: they show here after the first collection.</p>
      )}
    </div>
  )
}

const listed = (statuses: readonly Name[]) =>
  statuses
    .slice(0, 3)
    .map(({ name }) => name)
    .join(', ') + (statuses.length > 3 ? ', …' : '')
