import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { INBOX, Inbox, Payload } from '../parts/inbox.tsx'
import { Moment } from '../parts/parts.tsx'

const place = getRouteApi('/sources/webhooks/$id')
type Delivery = AnswerTo<'GET /v1/webhook-deliveries'>['deliveries'][number]

const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  pull_requests: 'Pull request',
  issues: 'Issue or incident',
  'issue/close': 'Issue closed',
}
const isTaken = ({ status }: Delivery) => status < 300

export function WebhookInbox({ connectionId }: { readonly connectionId: number }) {
  const { delivery: open } = place.useSearch()
  const navigate = place.useNavigate()
  const asked = useQuery({
    ...question('GET /v1/webhook-deliveries', { query: { connectionId, pageSize: INBOX.pageSize } }),
    refetchInterval: INBOX.everyMs,
  })
  return (
    <Inbox
      asked={asked}
      noun="messages"
      empty="Nothing has come yet. Run one of the commands above, and it shows up within seconds."
      kind={{ heading: 'What', of: ({ kind }) => KINDS[kind] ?? kind }}
      columns={[
        {
          heading: 'Became',
          cell: (delivery) => (
            <>
              <Outcome delivery={delivery} /> {delivery.message}
            </>
          ),
        },
        { heading: 'From', cell: ({ address }) => <span className="mono">{address}</span> },
      ]}
      open={open}
      onOpen={(delivery) => void navigate({ search: delivery === undefined ? {} : { delivery } })}
      detail={(delivery) => <Detail delivery={delivery} />}
    />
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
      <Payload
        title="Message"
        payload={payload}
        characters={characters}
        empty={
          isTaken(delivery) ? 'It had no body.' : 'It was refused before its body was read, or the body is no JSON.'
        }
      />
    </div>
  )
}
