import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { question } from '../api/queries.ts'
import { Asked, Moment } from '../parts/parts.tsx'
import { count, duration } from '../parts/words.ts'
import { periods } from '../projects/keys.ts'

interface ExplanationProps {
  readonly project: string
  readonly metric: string | undefined
  readonly reason: string | undefined
  readonly months: number
  readonly onClose: () => void
  readonly onReason: (reason: string | undefined) => void
}

/** From a number to the items that it is made of, and those that it leaves out with the reason. */
export function Explanation({ metric, onClose, ...rest }: ExplanationProps) {
  const metrics = useQuery({
    ...question('GET /v1/metrics'),
    enabled: metric !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const described = metrics.data?.find(({ name }) => name === metric)
  return (
    <Drawer
      opened={metric !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={described?.title ?? 'Explain'}
    >
      {metric && (
        <>
          <p className="quiet" style={{ marginBottom: 20 }}>
            {described?.definition}
          </p>
          <Reasons metric={metric} {...rest} />
          <Items metric={metric} {...rest} />
        </>
      )}
    </Drawer>
  )
}

type Shown = Omit<ExplanationProps, 'metric' | 'onClose'> & { readonly metric: string }

function Reasons({ metric, project, months, reason, onReason }: Shown) {
  const { current } = periods(months)
  const explained = useQuery(
    question('GET /v1/metrics/{metric}/explanation', { path: { metric }, query: { project, ...current } }),
  )
  const row = (key: string | undefined, words: string, number: number) => (
    <button
      key={words}
      type="button"
      onClick={() => onReason(key)}
      aria-pressed={reason === key}
      className="row"
      style={{
        width: '100%',
        padding: '8px 10px',
        border: 0,
        borderRadius: 6,
        background: reason === key ? 'var(--accent-ground)' : 'none',
        color: 'inherit',
        font: 'inherit',
        textAlign: 'left',
        cursor: 'pointer',
      }}
    >
      <span>{words}</span>
      <b className="number">{count(number)}</b>
    </button>
  )
  return (
    <Asked of={explained} lines={3}>
      {({ counted, leftOut }) => (
        <div style={{ marginBottom: 20 }}>
          {row('counted', 'They count', counted)}
          {leftOut.filter((each) => each.count > 0).map((each) => row(each.reason, each.meaning, each.count))}
        </div>
      )}
    </Asked>
  )
}

const SHOWN = 100

function Items({ metric, project, months, reason }: Shown) {
  const { current } = periods(months)
  const query = { project, ...current, pageSize: SHOWN, ...(reason && { reason: reason as 'counted' }) }
  const items = useQuery(question('GET /v1/metrics/{metric}/items', { path: { metric }, query }))
  return (
    <Asked of={items} lines={6}>
      {({ items: shown }) =>
        shown.length === 0 ? (
          <p className="quiet">There is none.</p>
        ) : (
          <table className="plain">
            <tbody>
              {shown.map((item) => (
                <tr key={`${item.kind} ${item.id}`}>
                  <td>
                    {item.url ? (
                      <a href={item.url} target="_blank" rel="noreferrer">
                        {item.title || item.id}
                      </a>
                    ) : (
                      item.title || item.id
                    )}
                    <div className="small faint">
                      {item.kind} · <Moment at={item.at} />
                    </div>
                  </td>
                  <td className="right">{item.value === null ? '' : duration(item.value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </Asked>
  )
}
