import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { question } from '../api/queries.ts'

const EVERY_MS = 60_000

/** Says above the numbers what they lack; nothing if they are complete. */
export function PartialData({ project }: { readonly project: string }) {
  const { data } = useQuery({
    ...question('GET /v1/partial-data', { query: { project } }),
    refetchInterval: EVERY_MS,
  })
  if (!data || data.partial.length === 0) return null
  return (
    <div className="notice" role="note" aria-label="Partial data" style={{ marginBottom: 16 }}>
      <div className="stack" style={{ gap: 4 }}>
        <b>These numbers rest on part of the data.</b>
        {data.partial.map(({ kind, seen, remedy, run }) => (
          <span key={kind} style={{ overflowWrap: 'anywhere' }}>
            {seen} <span className="quiet">{remedy}</span>{' '}
            {run !== null && (
              <Link to="/runs/$id" params={{ id: String(run) }}>
                Show run {run}
              </Link>
            )}
          </span>
        ))}
      </div>
    </div>
  )
}
