import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Alert } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { AskFirst } from '../parts/ask-first.tsx'
import { Asked, Empty, Moment } from '../parts/parts.tsx'
import { ACTIONS, CardTable } from '../parts/table.tsx'
import { counted } from '../parts/words.ts'
import { AlertForm } from './alert-form.tsx'
import { SettingsPage } from './settings-page.tsx'

const place = getRouteApi('/settings/alerts')
const LOOK_MS = 10_000

export function AlertsPage() {
  const { create = false, edit } = place.useSearch()
  const navigate = place.useNavigate()
  const isAdmin = useMay('admin')
  const alerts = useQuery({ ...question('GET /v1/alerts'), refetchInterval: LOOK_MS })
  const [deleted, setDeleted] = useState<Alert>()
  const open = () => void navigate({ search: { create: true } })
  const close = () => void navigate({ search: {}, replace: true })
  const changed = alerts.data?.alerts.find(({ id }) => id === edit)
  return (
    <SettingsPage
      title="Alerts"
      says="Who is told when a number goes wrong, when it is right again, and once a week how things went."
      {...(isAdmin && { actions: <Button onClick={open}>Create alert</Button> })}
    >
      <Asked of={alerts}>
        {({ alerts: all }) =>
          all.length === 0 ? (
            <Empty
              title="No alerts yet"
              {...(isAdmin && {
                action: (
                  <Button variant="default" onClick={open}>
                    Create the first alert
                  </Button>
                ),
              })}
            >
              An alert watches one number of a project and speaks once when it goes wrong; a digest tells the four keys
              once a week.
            </Empty>
          ) : (
            <AlertTable
              alerts={all}
              isAdmin={isAdmin}
              onEdit={({ id }) => void navigate({ search: { edit: id } })}
              onDelete={setDeleted}
            />
          )
        }
      </Asked>
      {(create || changed) && (
        <AlertForm
          key={changed?.id ?? 'new'}
          {...(changed && { alert: changed })}
          onClose={close}
          onSaved={() => {
            close()
            void refresh('GET /v1/alerts')
          }}
        />
      )}
      {deleted && (
        <AskFirst
          title={`Delete ${deleted.name}?`}
          action="Delete alert"
          onClose={() => setDeleted(undefined)}
          act={async () => {
            await ask('DELETE /v1/alerts/{id}', { path: { id: deleted.id } })
            await refresh('GET /v1/alerts')
          }}
        >
          Nobody is told any more, not even of what waits to be sent.
        </AskFirst>
      )}
    </SettingsPage>
  )
}

interface AlertTableProps {
  readonly alerts: readonly Alert[]
  readonly isAdmin: boolean
  readonly onEdit: (alert: Alert) => void
  readonly onDelete: (alert: Alert) => void
}

function AlertTable({ alerts, isAdmin, onEdit, onDelete }: AlertTableProps) {
  return (
    <CardTable heads={['Name', 'Sends a message when', 'Now', 'Tells', 'Last message', isAdmin && ACTIONS]}>
      {alerts.map((alert) => (
        <tr key={alert.id}>
          <td className="cut" style={{ fontWeight: 500, maxWidth: 220 }} title={alert.name}>
            {alert.name}
          </td>
          <td>{conditionOf(alert)}</td>
          <td>
            <Now alert={alert} />
          </td>
          <td>
            {alert.target.kind === 'slack' ? 'Slack' : 'Webhook'}{' '}
            <span className="small quiet mono">{alert.target.address}</span>
          </td>
          <td>
            <LastMessage alert={alert} />
          </td>
          {isAdmin && (
            <td>
              <Actions alert={alert} onEdit={onEdit} onDelete={onDelete} />
            </td>
          )}
        </tr>
      ))}
    </CardTable>
  )
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function conditionOf(alert: Alert): string {
  const { kind, project, title, direction, thresholdInWords, forDays, weekday, hour } = alert
  if (kind === 'digest') {
    return `${capital(weekday ?? '')} at ${String(hour).padStart(2, '0')}:00 UTC, ${project ?? 'all projects'}`
  }
  const long = forDays ? ` for ${forDays} ${forDays === 1 ? 'day' : 'days'}` : ''
  return `${title} of ${project} is ${direction} ${thresholdInWords}${long}`
}

const STATES = {
  unknown: { word: 'not checked yet', tone: '' },
  fine: { word: 'fine', tone: 'good' },
  pending: { word: 'beyond the limit, not yet for long', tone: 'attention' },
  broken: { word: 'broken', tone: 'bad' },
  'no data': { word: 'no data', tone: '' },
} as const

function Now({ alert: { kind, enable, state, inWords, problem, nextAt, brokenSince } }: { readonly alert: Alert }) {
  if (!enable) return <span className="faint">switched off</span>
  if (problem) return <span className="bad">{problem}</span>
  if (kind === 'digest') {
    return (
      <>
        next <Moment at={nextAt} />
      </>
    )
  }
  const { word, tone } = STATES[state]
  return (
    <>
      <span className={`tag ${tone}`}>{word}</span> {inWords}
      {brokenSince && (
        <span className="small quiet">
          {' '}
          since <Moment at={brokenSince} />
        </span>
      )}
    </>
  )
}

/** The content of the message, worded so that nobody takes it for the result of sending it. */
const SAID = new Map([
  ['broken', 'that the limit is broken'],
  ['recovered', 'that all is well again'],
  ['digest', 'the digest'],
  ['test', 'a test'],
  ['traffic', 'news of a traffic switch'],
])

function LastMessage({ alert: { lastMessage } }: { readonly alert: Alert }) {
  if (!lastMessage) return <span className="faint">none yet</span>
  const { kind, state, sentAt, createdAt, failure, attempts } = lastMessage
  const said = SAID.get(kind) ?? kind
  if (state === 'sent') {
    return (
      <>
        Delivered <Moment at={sentAt} />: {said}
      </>
    )
  }
  return (
    <>
      <span className="tag bad">{state === 'failed' ? 'Not delivered' : 'Not delivered yet'}</span> {said},{' '}
      <Moment at={createdAt} />
      {state !== 'failed' && attempts > 0 && (
        <div className="small quiet">Tried {counted(attempts, 'time')}; it will be tried again.</div>
      )}
      <div className="small quiet">{failure}</div>
    </>
  )
}

interface ActionsProps extends Pick<AlertTableProps, 'onEdit' | 'onDelete'> {
  readonly alert: Alert
}

function Actions({ alert, onEdit, onDelete }: ActionsProps) {
  const test = useMutation({
    mutationFn: () => ask('POST /v1/alerts/{id}/test', { path: { id: alert.id } }),
    onSettled: () => refresh('GET /v1/alerts'),
  })
  return (
    <>
      <div className="buttons" style={{ flexWrap: 'nowrap' }}>
        <Button variant="default" size="compact-sm" loading={test.isPending} onClick={() => test.mutate()}>
          Test
        </Button>
        <Button variant="default" size="compact-sm" onClick={() => onEdit(alert)}>
          Edit
        </Button>
        <Button variant="default" size="compact-sm" onClick={() => onDelete(alert)}>
          Delete
        </Button>
      </div>
      {(test.data || test.error) && (
        <p role="status" className={`small ${test.data?.isTaken ? 'quiet' : 'bad'}`} style={{ textAlign: 'right' }}>
          {test.data?.isTaken ? 'The message was delivered.' : test.data?.failure || test.error?.message}
        </p>
      )}
    </>
  )
}
