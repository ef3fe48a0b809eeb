import { ActionIcon, Button, JsonInput, NumberInput, TextInput } from '@mantine/core'
import type { SettingField as Field } from '../../api/description.ts'
import type { JsonSchema } from '../../api/sources.ts'

interface JsonFieldProps {
  readonly field: Field
  readonly value: unknown
  readonly isReadOnly: boolean
  onChange(value: unknown): void
}

type Item = Readonly<Record<string, unknown>>

/** Finds the shape of a value that may also be null, which only means that there is none. */
const shapeOf = ({ anyOf, ...schema }: JsonSchema = {}): JsonSchema =>
  anyOf?.find(({ type }) => type !== 'null') ?? schema
const isPlain = (schema: JsonSchema) => ['string', 'integer', 'number'].includes(shapeOf(schema).type ?? '')
const isPlainObject = ({ properties }: JsonSchema) => properties && Object.values(properties).every(isPlain)

/** Draws inputs from the schema: for an object of plain values, or a list of such objects. Anything else is edited as text. */
export function JsonField({ field, value, isReadOnly, onChange }: JsonFieldProps) {
  const shape = shapeOf(field.schema as JsonSchema)
  const item = shapeOf(shape.items)
  if (isPlainObject(shape))
    return (
      <fieldset className="rule bare">
        <Legend field={field} />
        <Parts shape={shape} value={(value ?? {}) as Item} isReadOnly={isReadOnly} onChange={onChange} />
      </fieldset>
    )
  if (shape.type === 'array' && isPlainObject(item)) {
    const items = (value ?? []) as readonly Item[]
    return (
      <fieldset className="rule bare">
        <Legend field={field} />
        {items.map((each, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items are edited in their place
          <div key={place} className="parts">
            <Parts
              shape={item}
              value={each}
              isReadOnly={isReadOnly}
              onChange={(next) => onChange(items.with(place, next))}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove number ${place + 1}`}
              onClick={() => onChange(items.toSpliced(place, 1))}
              disabled={isReadOnly}
            >
              ×
            </ActionIcon>
          </div>
        ))}
        <Button variant="default" size="xs" onClick={() => onChange([...items, {}])} disabled={isReadOnly}>
          Add one
        </Button>
      </fieldset>
    )
  }
  return (
    <JsonInput
      className="rule"
      label={field.label}
      description={field.help}
      value={typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2)}
      onChange={(text) => onChange(parsed(text))}
      validationError="Not JSON yet"
      readOnly={isReadOnly}
      autosize
    />
  )
}

function Legend({ field }: { readonly field: Field }) {
  return (
    <>
      <legend>{field.label}</legend>
      {field.help && <p className="small quiet">{field.help}</p>}
    </>
  )
}

interface PartsProps {
  readonly shape: JsonSchema
  readonly value: Item
  readonly isReadOnly: boolean
  onChange(value: Item): void
}

function Parts({ shape, value, isReadOnly, onChange }: PartsProps) {
  return (
    <div className="parts">
      {Object.entries(shape.properties ?? {}).map(([name, schema]) =>
        shapeOf(schema).type === 'string' ? (
          <TextInput
            key={name}
            label={wordsOf(name)}
            value={String(value[name] ?? '')}
            onChange={({ currentTarget }) => onChange({ ...value, [name]: currentTarget.value })}
            readOnly={isReadOnly}
            classNames={{ input: 'mono' }}
          />
        ) : (
          <NumberInput
            key={name}
            label={wordsOf(name)}
            value={typeof value[name] === 'number' ? value[name] : ''}
            onChange={(next) => onChange({ ...value, [name]: next === '' ? null : Number(next) })}
            allowDecimal={false}
            readOnly={isReadOnly}
            w={140}
          />
        ),
      )}
    </div>
  )
}

/** Makes `tagsLimit` readable: `Tags limit`. */
const wordsOf = (name: string) => {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** Text that is not JSON yet stays as it is; the server refuses it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
