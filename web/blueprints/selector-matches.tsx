import { useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../api/ask.ts'
import type { Blueprint } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { count } from '../parts/words.ts'

interface Question {
  readonly plugin: string
  readonly connectionId: number
  readonly scopes: readonly string[]
  readonly except: readonly string[]
  readonly archived: boolean
  /** Empty: scopes with any topics. */
  readonly topic: string
}

type Found = AnswerTo<'POST /v1/connections/{plugin}/{connectionId}/matches'>

/** Asks which scopes of the source a selector matches now. */
export const useSelectorMatches = ({ plugin, connectionId, scopes, except, archived, topic }: Question) =>
  useQuery({
    ...question('POST /v1/connections/{plugin}/{connectionId}/matches', {
      path: { plugin, connectionId },
      body: { scopes, except, archived, ...(topic && { topic }) },
    }),
    enabled: scopes.length > 0,
    staleTime: 60_000,
  })

interface MatchesProps {
  readonly found: Found
  readonly blueprint: Blueprint
  readonly plugin: string
  readonly connectionId: number
}

export function Matches({ found, blueprint, plugin, connectionId }: MatchesProps) {
  const own = blueprint.connections.find((each) => each.pluginName === plugin && each.connectionId === connectionId)
  const there = new Set(own?.scopes.map(({ scopeId }) => scopeId))
  const fresh = found.scopes.filter(({ id }) => !there.has(id)).length
  return (
    <>
      <p role="status" style={{ marginBottom: 8 }}>
        <b className="number">{count(found.count)}</b> {found.count === 1 ? 'matches' : 'match'} now
        {found.count > 0 && `, ${fresh === 0 ? 'all of them here already' : `${count(fresh)} of them new`}`}
        {found.count > found.scopes.length && `; the first ${count(found.scopes.length)} are listed`}.
      </p>
      {found.unmatched.length > 0 && (
        <p className="notice" style={{ marginBottom: 8 }}>
          <span style={{ overflowWrap: 'anywhere' }}>
            Nothing fits {found.unmatched.slice(0, 10).join(', ')}
            {found.unmatched.length > 10 && ` and ${count(found.unmatched.length - 10)} more`}: check the spelling, and
            what the token may see.
          </span>
        </p>
      )}
      {found.scopes.length > 0 && (
        <VirtualList items={found.scopes} keyOf={({ id }) => id} label="Matches" rowHeight={32} height={260}>
          {({ id, fullName, archived }) => (
            <div className="line">
              <bdi className="cut" title={fullName} style={{ flex: 1 }}>
                {fullName}
              </bdi>
              {archived && <span className="tag">archived</span>}
              {!there.has(id) && <span className="tag accent">new</span>}
            </div>
          )}
        </VirtualList>
      )}
    </>
  )
}
