/** Inputs for settings, made from the server's description of each. */
import { NumberInput, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { SettingField as Field } from '../api/description.ts'

interface FieldInputProps {
  readonly field: Field
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** The server's message about what is wrong with the value. */
  readonly error?: string | undefined
  /** Only for a secret: the stored one, masked. It stays unless the user types another one. */
  readonly stored?: string | undefined
}

const textOf = (value: unknown) => (value === null || value === undefined ? '' : String(value))

/** `AccessToken` → `Access token` */
const spaced = (word: string): string =>
  word.replace(/([a-z])([A-Z])/g, (_, end: string, begin: string) => `${end} ${begin.toLowerCase()}`)

/** Text that contains `code` between backquotes. */
export function WithCode({ children }: { readonly children: string }): ReactNode {
  return children.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text stay in their places
      <code key={index} className="mono">
        {part}
      </code>
    ),
  )
}

const MONO = { input: { fontFamily: 'var(--mono)', fontSize: 13, fontVariantLigatures: 'none' } }

export function FieldInput({ field, value, onChange, error, stored }: FieldInputProps) {
  const { kind, label, help, isRequired, choices = [], size, isMultiline } = field
  const common = {
    label,
    description: help,
    error,
    ...(kind !== 'boolean' && { required: isRequired && !stored, withAsterisk: isRequired && !stored }),
  }
  const text = {
    ...common,
    value: textOf(value),
    ...(size !== undefined && { maxLength: size }),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
    spellCheck: false,
  }
  const placeholder = stored ? `Stays as it is: ${stored}` : undefined
  switch (kind) {
    case 'secret':
      return isMultiline ? (
        <Textarea
          {...text}
          placeholder={placeholder}
          autoComplete="off"
          autosize
          minRows={3}
          maxRows={8}
          styles={MONO}
        />
      ) : (
        <PasswordInput {...text} placeholder={placeholder} autoComplete="off" styles={MONO} />
      )
    case 'boolean':
      return (
        <Switch
          {...common}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )
    case 'integer':
      return (
        <NumberInput
          {...common}
          value={value === 0 || value === null || value === undefined ? '' : Number(value)}
          onChange={(next) => onChange(next === '' ? null : next)}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          hideControls
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          data={choices.map((choice) => ({ value: choice, label: spaced(choice) }))}
          value={textOf(value) || null}
          onChange={onChange}
          allowDeselect={!isRequired && field.default === undefined}
        />
      )
    case 'strings':
      return <TagsInput {...common} value={Array.isArray(value) ? value.map(String) : []} onChange={onChange} />
    case 'url':
      return <TextInput {...text} type="url" inputMode="url" styles={MONO} />
    case 'regex':
      return <TextInput {...text} styles={MONO} />
    default:
      return <TextInput {...text} />
  }
}

/** Messages of the server about a field begin with its name, so that they can be shown at the field. */
export const fieldOf = (message: string, names: readonly string[]): string | undefined => {
  const [, first] = /^(\w+)[ :]/.exec(message) ?? []
  return names.find((name) => name === first)
}
