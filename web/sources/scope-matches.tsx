import { Button, Switch, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { question } from '../api/queries.ts'
import { Failure } from '../parts/parts.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { count } from '../parts/words.ts'
import type { Choice } from './choice.ts'
import { ScopeLine } from './scope-line.tsx'

export const patternsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\n,;\t]+/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

/** Names and patterns, and the scopes of the source that they match now. */
export function ScopeMatches({ choice, pasted }: { readonly choice: Choice; readonly pasted: string }) {
  const { source, connectionId } = choice
  const [text, setText] = useState(patternsIn(pasted).join('\n'))
  const [archived, setArchived] = useState(false)
  const [asked, setAsked] = useState<readonly string[]>(patternsIn(pasted))
  const patterns = patternsIn(text)
  const matches = useQuery({
    ...question('POST /v1/connections/{plugin}/{connectionId}/matches', {
      path: { plugin: source.plugin, connectionId },
      body: { scopes: asked, archived },
    }),
    enabled: asked.length > 0,
    staleTime: 60_000,
  })
  const isCurrent = patterns.join('\n') === asked.join('\n')
  const found = matches.data
  const free = found?.scopes.filter(({ id }) => !choice.isFixed(id) && !choice.isChosen(id)) ?? []
  return (
    <div style={{ display: 'grid', gap: 12 }}>
      <Textarea
        label="Names and patterns"
        description="One per line. * matches anything except a slash, ** matches anything: acme/*, acme/web-*."
        placeholder={'acme/*\nacme-labs/tools'}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        autosize
        minRows={3}
        maxRows={8}
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: 13 } }}
        spellCheck={false}
      />
      <div className="row" style={{ alignItems: 'center', flexWrap: 'wrap' }}>
        <Switch
          label="Archived ones too"
          checked={archived}
          onChange={({ currentTarget }) => setArchived(currentTarget.checked)}
        />
        <Button
          variant="default"
          disabled={patterns.length === 0}
          loading={matches.isFetching}
          onClick={() => (isCurrent ? void matches.refetch() : setAsked(patterns))}
        >
          Show what matches now
        </Button>
      </div>
      {matches.error && <Failure error={matches.error} again={() => void matches.refetch()} />}
      {found && isCurrent && !matches.error && (
        <>
          <div className="row" style={{ alignItems: 'center' }} role="status">
            <span>
              <b className="number">{count(found.count)}</b> {found.count === 1 ? 'matches' : 'match'} now
              {found.count > found.scopes.length && `, the first ${count(found.scopes.length)} are here`}
            </span>
            <Button variant="default" disabled={free.length === 0} onClick={() => choice.add(free)}>
              {free.length === 0 ? 'All are chosen' : `Choose all ${count(free.length)}`}
            </Button>
          </div>
          {found.unmatched.length > 0 && (
            <p className="notice" style={{ marginBottom: 0 }}>
              <span style={{ overflowWrap: 'anywhere' }}>
                Nothing fits {found.unmatched.slice(0, 10).join(', ')}
                {found.unmatched.length > 10 && ` and ${count(found.unmatched.length - 10)} more`}: check the spelling,
                and what the token may see.
              </span>
            </p>
          )}
          {found.scopes.length > 0 && (
            <VirtualList items={found.scopes} keyOf={({ id }) => id} label="Matches" rowHeight={36} height={300}>
              {(scope) => <ScopeLine scope={scope} choice={choice} depth={0} />}
            </VirtualList>
          )}
        </>
      )}
    </div>
  )
}
