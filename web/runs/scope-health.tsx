/** Records of a scope that are missing or in quarantine, and how to get them. */
import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ask } from '../api/ask.ts'
import type { Gap, Receipt } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { counted } from '../parts/words.ts'

interface ScopePlace {
  readonly plugin: string
  readonly connectionId: number
  readonly scopeId: string
}
type Driven = ScopePlace | { readonly project: string }

/** Starts a run that asks for missing records, or tries those in quarantine again, and opens its page. */
export function useDrive(operation: 'POST /v1/gaps/ask-again' | 'POST /v1/quarantine/redrive') {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (body: Driven) => ask(operation, { body }),
    onSuccess: async ({ id }) => {
      await refresh('GET /pipelines')
      await navigate({ to: '/runs/$id', params: { id: String(id) } })
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'No run was started', message }),
  })
}

/** Describes a gap in a sentence. */
export function gapSentence({ reason, attempts, isAskedAgain, kind }: Gap): string {
  const end = reason.endsWith('.') ? '' : '.'
  if (kind === 'capped') return `${reason}${end} The source lists no further, so asking again does not help.`
  if (isAskedAgain) return `${reason}${end} The next run asks again by itself.`
  return `${reason}${end} Asked for ${counted(attempts, 'time')} in vain, and left since then.`
}

interface ScopeHealthProps {
  readonly place: ScopePlace
  readonly receipts: readonly Receipt[]
  readonly mayRun: boolean
}

export function ScopeHealth({ place, receipts, mayRun }: ScopeHealthProps): ReactNode {
  const may = useMay('operator') && mayRun
  const { plugin, connectionId, scopeId } = place
  const aside = useQuery(question('GET /v1/quarantine', { query: { plugin, connectionId, scopeId, pageSize: 1 } }))
  const askAgain = useDrive('POST /v1/gaps/ask-again')
  const redrive = useDrive('POST /v1/quarantine/redrive')
  const gaps = receipts.flatMap((receipt) => receipt.gaps)
  const asideCount = aside.data?.count ?? 0
  if (gaps.length === 0 && asideCount === 0) return null
  return (
    <article className="card">
      {gaps.length > 0 && (
        <div className="row health">
          <div style={{ minWidth: 0 }}>
            <h3>{counted(gaps.length, 'gap')}: the source has more than came</h3>
            {gaps.slice(0, 3).map((gap) => (
              <p key={`${gap.address} ${gap.kind}`} className="quiet small message">
                {gapSentence(gap)}
              </p>
            ))}
            {gaps.length > 3 && (
              <Link to="/runs/health" search={place}>
                Show all {gaps.length}
              </Link>
            )}
          </div>
          {may && (
            <Button variant="default" loading={askAgain.isPending} onClick={() => askAgain.mutate(place)}>
              Ask again
            </Button>
          )}
        </div>
      )}
      {asideCount > 0 && (
        <div className="row health">
          <div>
            <h3>{counted(asideCount, 'record')} put aside</h3>
            <p className="quiet small">
              They could not be read as they are.{' '}
              <Link to="/runs/health" search={{ ...place, show: 'aside' }}>
                Show which, and why
              </Link>
            </p>
          </div>
          {may && (
            <Button variant="default" loading={redrive.isPending} onClick={() => redrive.mutate(place)}>
              Try them again
            </Button>
          )}
        </div>
      )}
    </article>
  )
}
