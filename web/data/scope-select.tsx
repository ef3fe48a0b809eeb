import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FoundScope } from '../api/description.ts'
import { question } from '../api/queries.ts'
import type { ScopePlace } from './address.ts'

export interface WholePlace {
  readonly plugin: string
  readonly connectionId: number
  readonly scopeId?: string
}

/** The scope in the address, if the address is complete. */
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
  readonly onChange: (place: WholePlace) => void
}

/** Finds a scope of any connection by its name. */
export function ScopeSelect({ place, onChange }: ScopeSelectProps) {
  const given = wholePlace(place)
  const named = useQuery({ ...question('GET /v1/data/scopes', { query: given ?? {} }), enabled: given !== undefined })
  const chosen = given && (named.data?.scopes[0] ?? unnamed(given))
  const [words, setWords] = useState('')
  const [settled] = useDebouncedValue(words, 200)
  // The chosen scope is shown in the search field, but not searched for.
  const keyword = chosen && settled === labelOf(chosen) ? '' : settled
  const found = useQuery({
    ...question('GET /v1/data/scopes', { query: keyword ? { keyword } : {} }),
    placeholderData: (before) => before,
  })
  const scopes = found.data?.scopes ?? []
  const isListed = chosen === undefined || scopes.some((each) => keyOf(each) === keyOf(chosen))
  return (
    <Select
      label="Scope"
      placeholder="Find a repository, board or connection"
      data={(isListed ? scopes : [chosen, ...scopes]).map((scope) => ({ value: keyOf(scope), label: labelOf(scope) }))}
      value={chosen ? keyOf(chosen) : null}
      searchValue={words}
      onSearchChange={setWords}
      onChange={(value) => {
        const scope = scopes.find((each) => keyOf(each) === value)
        if (!scope) return
        const { plugin, connectionId, scopeId } = scope
        onChange({ plugin, connectionId, ...(scopeId !== null && { scopeId }) })
      }}
      filter={({ options }) => options}
      allowDeselect={false}
      searchable
      nothingFoundMessage="No scope has this name. Scopes are added on the page of a connection."
    />
  )
}

/** Used before the name of the scope is known, or if the scope no longer exists. */
const unnamed = ({ plugin, connectionId, scopeId }: WholePlace): FoundScope => ({
  plugin,
  pluginTitle: plugin,
  connectionId,
  connectionName: String(connectionId),
  scopeId: scopeId ?? null,
  scopeName: scopeId ?? '',
})
