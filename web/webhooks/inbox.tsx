import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { Asked, Moment } from '../parts/parts.tsx'
import { count } from '../parts/words.ts'

const place = getRouteApi('/sources/webhooks/$id')
const SHOWN = 200
const EVERY_MS = 4_000
type Delivery = AnswerTo<'GET /v1/webhook-deliveries'>['deliveries'][number]

const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  pull_requests: 'Pull request',
  issues: 'Issue or incident',
  'issue/close': 'Issue closed',
}
const isTaken = ({ status }: Delivery) => status < 300

export function Inbox({ connectionId }: { readonly connectionId: number }) {
  const { delivery: open } = place.useSearch()
  const navigate = place.useNavigate()
  const inbox = useQuery({
    ...question('GET /v1/webhook-deliveries', { query: { connectionId, pageSize: SHOWN } }),
    refetchInterval: EVERY_MS,
  })
  const opened = inbox.data?.deliveries.find(({ id }) => id === open)
  return (
    <section className="card" aria-labelledby="inbox">
      <div className="section-head">
        <div>
          <h2 id="inbox">Inbox</h2>
          <p>The last {SHOWN} messages. They appear here by themselves.</p>
        </div>
      </div>
      <Asked of={inbox}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p className="quiet">
              Nothing has come yet. Run one of the commands above, and it shows up within seconds.
            </p>
          ) : (
            <div className="scroll">
              <table className="plain">
                <thead>
                  <tr>
                    <th>When</th>
                    <th>What</th>
                    <th>Became</th>
                    <th>From</th>
                  </tr>
                </thead>
                <tbody>
                  {deliveries.map((delivery) => (
                    <tr key={delivery.id}>
                      <td style={{ whiteSpace: 'nowrap' }}>
                        <Moment at={delivery.createdAt} />
                      </td>
                      <td style={{ whiteSpace: 'nowrap' }}>
                        <button
                          type="button"
                          className="link"
                          onClick={() => void navigate({ search: { delivery: delivery.id } })}
                        >
                          {KINDS[delivery.kind] ?? delivery.kind}
                        </button>
                      </td>
                      <td className="quiet" style={{ overflowWrap: 'anywhere' }}>
                        <Outcome delivery={delivery} /> {delivery.message}
                      </td>
                      <td className="mono quiet">{delivery.address}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Asked>
      <Drawer
        opened={open !== undefined}
        onClose={() => void navigate({ search: {} })}
        position="right"
        size="lg"
        title={opened ? (KINDS[opened.kind] ?? opened.kind) : 'Delivery'}
      >
        {opened ? (
          <Detail delivery={opened} />
        ) : (
          inbox.data && <p className="quiet">This message has given way to newer ones.</p>
        )}
      </Drawer>
    </section>
  )
}

const Outcome = ({ delivery }: { readonly delivery: Delivery }) =>
  isTaken(delivery) ? <span className="tag good">taken</span> : <span className="tag bad">refused</span>

function Detail({ delivery }: { readonly delivery: Delivery }) {
  const { message, status, sender, address, path, payload, characters, createdAt } = delivery
  return (
    <div className="fields">
      <p>
        <Outcome delivery={delivery} /> <span className="quiet">answered with {status}</span>
      </p>
      {message && (
        <p role="note" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </p>
      )}
      <p className="quiet" style={{ overflowWrap: 'anywhere' }}>
        Sent <Moment at={createdAt} /> from <span className="mono">{address}</span> by {sender} to{' '}
        <span className="mono">{path}</span>.
      </p>
      <section>
        <h3 style={{ marginBottom: 8 }}>Message</h3>
        {payload === '' ? (
          <p className="quiet">
            {isTaken(delivery) ? 'It had no body.' : 'It was refused before its body was read, or the body is no JSON.'}
          </p>
        ) : (
          <pre className="code wrap">{pretty(payload)}</pre>
        )}
        {characters > payload.length && (
          <p className="small quiet" style={{ marginTop: 8 }}>
            Its first {count(payload.length)} of {count(characters)} characters.
          </p>
        )}
      </section>
    </div>
  )
}

/** What was cut is no JSON any more. */
function pretty(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
