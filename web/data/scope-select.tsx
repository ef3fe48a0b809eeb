import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FoundScope } from '../api/description.ts'
import { question } from '../api/queries.ts'
import type { ScopePlace } from './places.ts'

export interface WholePlace {
  readonly plugin: string
  readonly connectionId: number
  readonly scopeId?: string
}

/** What the address says, when it says enough. */
export const wholePlace = ({ plugin, connectionId, scopeId }: ScopePlace): WholePlace | undefined =>
  plugin !== undefined && connectionId !== undefined
    ? { plugin, connectionId, ...(scopeId !== undefined && { scopeId }) }
    : undefined

const keyOf = ({ plugin, connectionId, scopeId }: Pick<FoundScope, 'plugin' | 'connectionId' | 'scopeId'>) =>
  JSON.stringify([plugin, connectionId, scopeId])
const labelOf = ({ pluginTitle, connectionName, scopeName, scopeId }: FoundScope) =>
  [scopeName, pluginTitle, ...(scopeId === null ? [] : [connectionName])].join(' · ')

interface ScopeSelectProps {
  readonly place: ScopePlace
  readonly onChange: (place: WholePlace | undefined) => void
}

/** Finds a scope of any connection by its name. */
export function ScopeSelect({ place, onChange }: ScopeSelectProps) {
  const [words, setWords] = useState('')
  const [settled] = useDebouncedValue(words, 200)
  const found = useQuery({
    ...question('GET /v1/data/scopes', { query: settled ? { keyword: settled.split(' · ')[0] as string } : {} }),
    placeholderData: (before) => before,
  })
  const given = wholePlace(place)
  const value = given ? keyOf({ ...given, scopeId: given.scopeId ?? null }) : null
  const options = (found.data?.scopes ?? []).map((scope) => ({ value: keyOf(scope), label: labelOf(scope), scope }))
  const isListed = value === null || options.some((option) => option.value === value)
  const data = options.map(({ value: each, label }) => ({ value: each, label }))
  return (
    <Select
      label="Scope"
      placeholder="Find a repository, board or connection"
      data={isListed ? data : [{ value: value as string, label: nameOf(given) }, ...data]}
      value={value}
      onSearchChange={setWords}
      onChange={(chosen) => {
        const option = options.find((each) => each.value === chosen)
        if (!option) return onChange(undefined)
        const { plugin, connectionId, scopeId } = option.scope
        onChange({ plugin, connectionId, ...(scopeId !== null && { scopeId }) })
      }}
      filter={({ options: all }) => all}
      searchable
      nothingFoundMessage="No scope has this name. Scopes are added on the page of a connection."
    />
  )
}

const nameOf = (place: WholePlace | undefined) =>
  place ? [place.scopeId, place.plugin].filter(Boolean).join(' · ') : ''
