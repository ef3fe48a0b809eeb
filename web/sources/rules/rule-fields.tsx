import './rules.css'
/** The rules of a source as panels of fields, made from its own description. */
import { Autocomplete, Checkbox, TagsInput, TextInput } from '@mantine/core'
import type { SettingField as Field } from '../../api/description.ts'
import type { Source } from '../../api/sources.ts'
import { fieldsOf, type Names, type RuleValues } from './asked.ts'
import { JsonField } from './json-field.tsx'
import { PatternField } from './pattern-field.tsx'
import { TypeMappings } from './type-mappings.tsx'

interface RuleFieldsProps {
  readonly source: Source
  readonly values: RuleValues
  readonly names: Names | undefined
  readonly isReadOnly: boolean
  /** For pages about some of the fields: chooses which. */
  readonly only?: ((field: Field) => boolean) | undefined
  onChange(name: string, value: unknown): void
}

export function RuleFields({ source, only = () => true, ...rest }: RuleFieldsProps) {
  const panels = Map.groupBy(
    fieldsOf(source).filter(([, field]) => only(field)),
    ([, { panel = 'Rules' }]) => panel,
  )
  return (
    <>
      {[...panels].map(([panel, fields]) => (
        <section key={panel} className="card panel" aria-label={panel}>
          <h2>{panel}</h2>
          {sharedHelp(fields) && <p className="small quiet">{sharedHelp(fields)}</p>}
          {fields.map(([name, field]) => (
            <RuleField key={name} name={name} field={withoutHelp(field, sharedHelp(fields))} {...rest} />
          ))}
        </section>
      ))}
    </>
  )
}

/** Help that is the same for all fields of a panel is shown once. */
const sharedHelp = (fields: readonly (readonly [string, Field])[]): string | undefined =>
  fields.length > 1 && fields.every(([, { help }]) => help === fields[0]?.[1].help) ? fields[0]?.[1].help : undefined
const withoutHelp = ({ help, ...field }: Field, shared: string | undefined): Field =>
  help === undefined || help === shared ? field : { ...field, help }

interface RuleFieldProps extends Omit<RuleFieldsProps, 'source' | 'only'> {
  readonly name: string
  readonly field: Field
}

function RuleField({ name, field, values, names, isReadOnly, onChange }: RuleFieldProps) {
  const value = values[name]
  const change = (next: unknown) => onChange(name, next)
  const suggestion = names?.suggestions.find((each) => each.field === name) as
    | { value: unknown; reason: string; isFound: boolean }
    | undefined
  if (field.kind === 'regex')
    return (
      <PatternField
        field={field}
        value={String(value ?? '')}
        names={names}
        within={field.within === undefined ? undefined : String(values[field.within] ?? '')}
        suggestion={suggestion}
        isReadOnly={isReadOnly}
        onChange={change}
      />
    )
  if (field.kind === 'json' && field.names)
    return (
      <TypeMappings
        field={field}
        value={value}
        names={names}
        suggestion={suggestion}
        isReadOnly={isReadOnly}
        onChange={change}
      />
    )
  if (field.kind === 'json') return <JsonField field={field} value={value} isReadOnly={isReadOnly} onChange={change} />
  if (field.kind === 'strings')
    return (
      <TagsInput
        className="rule"
        label={field.label}
        description={field.help}
        value={[...((value ?? []) as readonly string[])]}
        onChange={change}
        readOnly={isReadOnly}
        placeholder="Type one and press Enter"
      />
    )
  if (field.names) {
    const known = names?.kinds.filter(({ kind }) => field.names?.includes(kind)).flatMap((each) => each.names) ?? []
    return (
      <Autocomplete
        className="rule"
        label={field.label}
        description={field.help ?? suggestion?.reason}
        data={known.map((each) => each.name)}
        renderOption={({ option }) => (
          <span>
            {known.find((each) => each.name === option.value)?.label || option.value}{' '}
            <span className="mono faint">{option.value}</span>
          </span>
        )}
        filter={({ search }) =>
          known
            .filter(({ name: id, label }) => `${label} ${id}`.toLowerCase().includes(search.toLowerCase()))
            .slice(0, 50)
            .map(({ name: id }) => ({ value: id, label: id }))
        }
        value={String(value ?? '')}
        onChange={change}
        readOnly={isReadOnly}
        maxLength={field.size ?? 10_000}
      />
    )
  }
  return (
    <TextInput
      className="rule"
      label={field.label}
      description={field.help}
      value={String(value ?? '')}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      readOnly={isReadOnly}
      maxLength={field.size ?? 10_000}
    />
  )
}

const ENTITIES: Readonly<Record<string, readonly [title: string, says: string]>> = {
  CODE: ['Code', 'commits, branches and tags'],
  CODEREVIEW: ['Code review', 'pull requests, reviews and comments'],
  CICD: ['Builds and deployments', 'workflows, jobs and what they put where'],
  TICKET: ['Issues', 'issues, incidents, sprints and their history'],
  CROSS: ['Links', 'which issue a change belongs to, and who is who'],
  CODEQUALITY: ['Code quality', 'findings of analysers'],
}

interface EntitiesProps {
  readonly known: readonly string[]
  readonly chosen: readonly string[]
  readonly isReadOnly: boolean
  onChange(chosen: readonly string[]): void
}

/** For the server, none means all, so the last one cannot be switched off. */
export function Entities({ known, chosen, isReadOnly, onChange }: EntitiesProps) {
  const isOn = (entity: string) => chosen.length === 0 || chosen.includes(entity)
  const on = known.filter(isOn)
  return (
    <section className="card panel" aria-label="What is collected">
      <h2>What is collected</h2>
      <div className="entities">
        {known.map((entity) => {
          const [title, says] = ENTITIES[entity] ?? [entity, '']
          return (
            <Checkbox
              key={entity}
              label={title}
              description={says}
              checked={isOn(entity)}
              disabled={isReadOnly || (on.length === 1 && isOn(entity))}
              onChange={() => onChange(known.filter((each) => (each === entity ? !isOn(each) : isOn(each))))}
            />
          )
        })}
      </div>
    </section>
  )
}
