/** Deliveries that a source sends by itself: how to set that up in the source, and their results. */
import '../settings/settings.css'
import { Button, PasswordInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { AskFirst } from '../parts/ask-first.tsx'
import { Copy } from '../parts/copy.tsx'
import { INBOX, Inbox, Payload } from '../parts/inbox.tsx'
import { Asked, Moment } from '../parts/parts.tsx'

const LIST = 'GET /v1/plugins/{plugin}/connections/{connectionId}/deliveries'
const SETUP = 'GET /v1/plugins/{plugin}/connections/{connectionId}/deliveries/setup'
const SECRET = 'POST /v1/plugins/{plugin}/connections/{connectionId}/deliveries/secret'
const ENTER = 'PUT /v1/plugins/{plugin}/connections/{connectionId}/deliveries/secret'
const REPLAY = 'POST /v1/plugins/{plugin}/connections/{connectionId}/deliveries/{id}/replay'

type Delivery = AnswerTo<typeof LIST>['deliveries'][number]
type Setup = AnswerTo<typeof SETUP>

interface Place {
  readonly plugin: string
  readonly connectionId: number
}

export function Deliveries(place: Place & { readonly title: string }) {
  const { plugin, connectionId, title } = place
  const setup = useQuery(question(SETUP, { path: { plugin, connectionId } }))
  return (
    <Asked of={setup}>
      {(data) => (
        <div className="sections" style={{ marginTop: 16 }}>
          <SetUp plugin={plugin} connectionId={connectionId} title={title} setup={data} />
          {data.secretSince !== null && <DeliveryInbox plugin={plugin} connectionId={connectionId} />}
        </div>
      )}
    </Asked>
  )
}

interface SetUpProps extends Place {
  readonly title: string
  readonly setup: Setup
}

function SetUp({ plugin, connectionId, title, setup }: SetUpProps) {
  const isAdmin = useMay('admin')
  const [secret, setSecret] = useState<string>()
  const [isAsking, setAsking] = useState(false)
  const path = { plugin, connectionId }
  const make = async () => {
    const made = await ask(SECRET, { path })
    setSecret(made.secret)
    await refresh(SETUP)
  }
  const first = useMutation({
    mutationFn: make,
    onError: ({ message }) => notifications.show({ color: 'red', title: 'No secret was made', message }),
  })
  const address = `${location.origin}${setup.address}`
  // A new secret counts at once: the setup that knows it arrives a moment later.
  const hasSecret = setup.secretSince !== null || secret !== undefined
  return (
    <section className="card" aria-labelledby="deliveries">
      <div className="section-head">
        <div>
          <h2 id="deliveries">Webhooks of {title}</h2>
          <p>
            {hasSecret
              ? `${title} sends changes here as they happen. Runs confirm them.`
              : `Let ${title} send changes here as they happen, instead of waiting for the next run.`}
          </p>
        </div>
        {isAdmin && !setup.isSecretOfSource && (
          <Button
            variant="default"
            size="compact-sm"
            loading={first.isPending}
            onClick={() => (hasSecret ? setAsking(true) : first.mutate())}
          >
            {hasSecret ? 'Renew secret' : 'Create secret'}
          </Button>
        )}
      </div>
      {(hasSecret || setup.isSecretOfSource) && (
        <dl className="fields">
          <Step name="Address" says={setup.setup.address} value={address} />
          {setup.isSecretOfSource ? (
            <EnteredSecret {...path} says={setup.setup.secret} hasSecret={hasSecret} isAdmin={isAdmin} />
          ) : (
            <Step name="Secret" says={setup.setup.secret} value={secret} hidden="It was shown when it was made." />
          )}
          <div>
            <dt>Events</dt>
            <dd className="quiet" style={FLUSH}>
              {setup.setup.events}
            </dd>
          </div>
        </dl>
      )}
      {secret && (
        <p role="status" style={{ marginTop: 12 }}>
          <b>Copy the secret now:</b> nothing shows it again once you leave this page.
        </p>
      )}
      {isAsking && (
        <AskFirst title="Renew the secret?" action="Renew" act={make} onClose={() => setAsking(false)}>
          Deliveries that are signed with the old secret are refused from then on: enter the new one at {title}.
        </AskFirst>
      )}
    </section>
  )
}

const FLUSH = { marginInlineStart: 0 }

interface EnteredSecretProps extends Place {
  readonly says: string
  readonly hasSecret: boolean
  readonly isAdmin: boolean
}

/** For a source that creates the secret itself. */
function EnteredSecret({ plugin, connectionId, says, hasSecret, isAdmin }: EnteredSecretProps) {
  const [secret, setSecret] = useState('')
  const save = useMutation({
    mutationFn: () => ask(ENTER, { path: { plugin, connectionId }, body: { secret } }),
    onSuccess: async () => {
      setSecret('')
      await refresh(SETUP)
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'The secret was not saved', message }),
  })
  return (
    <div>
      <dt>Secret</dt>
      <dd style={FLUSH}>
        <p className="quiet">
          {says}
          {hasSecret && ' There is one.'}
        </p>
        {isAdmin && (
          <form
            style={{ display: 'flex', flexWrap: 'wrap', alignItems: 'end', gap: 8 }}
            onSubmit={(event) => {
              event.preventDefault()
              save.mutate()
            }}
          >
            <PasswordInput
              label="Signing secret"
              style={{ minWidth: 260 }}
              value={secret}
              onChange={({ currentTarget }) => setSecret(currentTarget.value)}
            />
            <Button type="submit" variant="default" size="compact-sm" loading={save.isPending} disabled={secret === ''}>
              {hasSecret ? 'Replace secret' : 'Save secret'}
            </Button>
          </form>
        )}
      </dd>
    </div>
  )
}

interface StepProps {
  readonly name: string
  readonly says: string
  readonly value: string | undefined
  /** Shown instead of a value that nobody can see any more. */
  readonly hidden?: string
}

const Step = ({ name, says, value, hidden }: StepProps) => (
  <div>
    <dt>{name}</dt>
    <dd style={FLUSH}>
      <p className="quiet">{says}</p>
      {value ? (
        <div style={{ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: 8, overflowWrap: 'anywhere' }}>
          <code className="mono">{value}</code>
          <Copy text={value} label={`Copy ${name.toLowerCase()}`} />
        </div>
      ) : (
        <p className="quiet">{hidden}</p>
      )}
    </dd>
  </div>
)

const LOOKS: Readonly<Record<Delivery['state'], string>> = {
  waiting: 'tag',
  applied: 'tag good',
  ignored: 'tag',
  refused: 'tag bad',
  failed: 'tag bad',
}

function DeliveryInbox(place: Place) {
  const { plugin, connectionId } = place
  const [open, setOpen] = useState<number>()
  const asked = useQuery({
    ...question(LIST, { path: { plugin, connectionId }, query: { pageSize: INBOX.pageSize } }),
    refetchInterval: INBOX.everyMs,
  })
  return (
    <Inbox
      asked={asked}
      noun="deliveries"
      empty="Nothing has come yet. A test delivery of the source shows up within seconds."
      kind={{ heading: 'Event', of: ({ kind }) => kind || 'unknown' }}
      columns={[
        { heading: 'About', cell: ({ scope }) => scope },
        {
          heading: 'Result',
          cell: (delivery) => (
            <>
              <Outcome delivery={delivery} /> {delivery.effect || delivery.message}
            </>
          ),
        },
      ]}
      open={open}
      onOpen={setOpen}
      detail={(delivery) => <Detail delivery={delivery} place={{ plugin, connectionId }} />}
    />
  )
}

const Outcome = ({ delivery: { state } }: { readonly delivery: Delivery }) => (
  <span className={LOOKS[state]}>{state}</span>
)

function Detail({ delivery, place }: { readonly delivery: Delivery; readonly place: Place }) {
  const { id, effect, message, address, deliveryId, payload, characters, createdAt, isReplayable, state } = delivery
  const mayReplay = useMay('operator')
  const replay = useMutation({
    mutationFn: () => ask(REPLAY, { path: { ...place, id } }),
    onSuccess: () => refresh(LIST),
    onError: (error) => notifications.show({ color: 'red', title: 'It was not applied again', message: error.message }),
  })
  return (
    <div className="fields">
      <p style={{ overflowWrap: 'anywhere' }}>
        <Outcome delivery={delivery} /> {effect || message}
      </p>
      <p className="quiet" style={{ overflowWrap: 'anywhere' }}>
        Sent <Moment at={createdAt} /> from <span className="mono">{address}</span>
        {deliveryId && (
          <>
            {' '}
            as <span className="mono">{deliveryId}</span>
          </>
        )}
        .
      </p>
      {isReplayable && mayReplay && (
        <div>
          <Button
            variant="default"
            loading={replay.isPending}
            disabled={state === 'waiting'}
            onClick={() => replay.mutate()}
          >
            Apply again
          </Button>
        </div>
      )}
      {payload && <Payload title="Delivery" payload={payload} characters={characters} />}
    </div>
  )
}
