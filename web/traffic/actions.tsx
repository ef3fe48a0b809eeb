import { Button, Modal, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import {
  type Action,
  hostsOf,
  namesOf,
  planOf,
  refreshSwitches,
  type Status,
  type Switch,
  shareOf,
} from './describe.tsx'

type Known = Action | 'approve' | 'reverse' | 'accept'
interface Described {
  readonly title: string
  readonly consequence: string
  /** True for actions that delete something: the user has to type the name of the switch. */
  readonly isTyped?: boolean
}

function describe(of: Switch, action: Known): Described {
  const { steps, cleanup } = planOf(of)
  const { here, there } = namesOf(of)
  const hosts = hostsOf(planOf(of))
  const number = of.verifiedAt === null ? of.step : of.step + 1
  const next = steps[number]
  const percent = next ? Math.round(shareOf(next) * 100) : 0
  const isDraft = of.state === 'draft'
  const ingress =
    cleanup?.currentIngress === 'delete-ingress' ? `, and the Ingress of ${here} with its load balancer` : ''
  const all: Readonly<Record<Known, Described>> = {
    prepare: {
      title: 'Prepare',
      consequence: `Makes the target group and the binding in ${there}, and attaches it with weight 0. No request moves yet.`,
    },
    advance: {
      title: 'Advance',
      consequence: next
        ? `Begins step ${number} of ${steps.length - 1}: ${100 - percent} % ${here}, ${percent} % ${there}, if waiting time and gates allow it.`
        : 'Marks the switch as done, once waiting time and gates of the last step are passed. It counts as a deployment.',
    },
    accept: {
      title: 'Continue from what is live',
      consequence:
        'Begins the step although something else stands there. Weir writes over it, and the journal keeps what it was.',
    },
    pause: {
      title: 'Pause',
      consequence: 'Keeps the weights as they are. Nothing moves by itself until somebody advances.',
    },
    rollback: {
      title: 'Roll back',
      consequence:
        of.state === 'preparing' || of.state === 'prepared'
          ? `Ends the switch for now. No request has moved: all of them stay with ${here}.`
          : `Sends every request back to ${here} at once, whatever the gates say. It counts as a failed deployment.`,
      isTyped: planOf(of).confirmRollback === true,
    },
    dns: {
      title: 'Confirm DNS',
      consequence:
        of.state === 'rolling-back'
          ? `Ends the rollback in ${there}, if ${hosts.join(' and ') || 'the name'} leads there already.`
          : `Looks ${hosts.join(' and ') || 'the name'} up and notes that it leads to ${there}. Move ${hosts.length > 1 ? 'the records' : 'the record'} first, unless the plan names the zone.`,
    },
    cleanup: {
      title: 'Clean up',
      consequence: `Deletes the binding and the target group that the switch made${ingress}. ${there} keeps all requests; after this there is no quick way back.`,
      isTyped: true,
    },
    abort: {
      title: 'Abort',
      consequence: isDraft
        ? 'Closes the draft for good. Nothing was made yet; the journal stays.'
        : `Deletes what preparing made. Every request stays with ${here}; the journal stays.`,
      isTyped: true,
    },
    approve: { title: 'Approve', consequence: 'Passes the approval gate of this step, in your name.' },
    reverse: {
      title: 'Reverse',
      consequence: `Makes a new draft that moves requests from ${there} back to ${here}. Nothing happens until it is prepared.`,
    },
  }
  return all[action]
}

const needsApproval = (of: Switch) =>
  ['prepared', 'shifting', 'paused'].includes(of.state) &&
  planOf(of).steps[of.step]?.gates.some(({ kind }) => kind === 'approval')

interface Props {
  readonly of: Switch
  /** The share of requests that the target gets now. Null: unknown; left out: not asked yet. */
  readonly share: Status['share'] | undefined
}

const isOnTarget = (share: Props['share']): boolean => share === null || (share !== undefined && share.most > 0)

export function Actions({ of, share }: Props) {
  const [chosen, setChosen] = useState<Known>()
  const actions: readonly Known[] = [
    ...(needsApproval(of) ? (['approve'] as const) : []),
    ...of.actions.filter((action) => action !== 'rollback'),
    ...(['switched', 'dns-switched', 'cleaned-up'].includes(of.state) ? (['reverse'] as const) : []),
  ]
  if (actions.length === 0) return null
  // Unless it is certain that the target gets no requests, only the button for the way back is highlighted.
  const isHere = share !== undefined && !isOnTarget(share)
  const forward = isHere ? actions.find((action) => action === 'prepare' || action === 'advance') : undefined
  return (
    <section className="card" aria-labelledby="actions">
      <h2 id="actions" style={{ marginBottom: 4 }}>
        What can be done now
      </h2>
      {actions.map((action) => {
        const { title, consequence } = describe(of, action)
        return (
          <div key={action} className="consequence">
            <Button variant={action === forward ? 'filled' : 'default'} onClick={() => setChosen(action)}>
              {title}
            </Button>
            <span className="quiet">{consequence}</span>
          </div>
        )
      })}
      {chosen && <Confirm of={of} action={chosen} onClose={() => setChosen(undefined)} />}
    </section>
  )
}

/** A draft has changed nothing. After a rollback, another one is needed only if the target may still get requests. */
const hasWayBack = ({ state, actions }: Switch, share: Props['share']): boolean =>
  actions.includes('rollback') && state !== 'draft' && (state !== 'rolled-back' || isOnTarget(share))

/** Highlighted if there is something to roll back. It works with one click, because whoever needs it is in a hurry. */
export function RollBack({ of, share }: Props) {
  const [isAsked, setAsked] = useState(false)
  const { isTyped, consequence } = describe(of, 'rollback')
  const back = useMutation({
    mutationFn: () =>
      ask('POST /v1/traffic-switches/{id}/transitions', {
        path: { id: of.id },
        body: { action: 'rollback', reason: 'rolled back on the page' },
      }),
    onSuccess: () => notifications.show({ message: 'Rolled back.' }),
    onSettled: refreshSwitches,
  })
  if (!hasWayBack(of, share)) return null
  const isUrgent = isOnTarget(share) || of.state === 'rolling-back'
  return (
    <div className="roll-back">
      <Button
        {...(isUrgent ? { color: 'red' } : { variant: 'default' })}
        size="md"
        loading={back.isPending}
        onClick={() => (isTyped ? setAsked(true) : back.mutate())}
      >
        Roll back
      </Button>
      <span className="small quiet">{consequence}</span>
      {back.isPending && (
        <span role="status" className="small">
          Taking all requests back. You may leave this page.
        </span>
      )}
      {back.error && (
        <p role="alert" className="bad small" style={{ overflowWrap: 'anywhere' }}>
          {back.error.message}
        </p>
      )}
      {isAsked && <Confirm of={of} action="rollback" onClose={() => setAsked(false)} />}
    </div>
  )
}

interface ConfirmProps {
  readonly of: Switch
  readonly action: Known
  readonly onClose: () => void
}

/** Acts only on the version that the user has seen. If somebody else has taken a step meanwhile, the user is told. */
export function Confirm({ of, action, onClose }: ConfirmProps) {
  const navigate = useNavigate()
  const { title, consequence, isTyped = false } = describe(of, action)
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const path = { id: of.id }
  const [seen] = useState(of.version)
  const said = reason.trim() && { reason: reason.trim() }
  const wanted = action === 'accept' ? { action: 'advance' as const, acceptLive: true } : { action: action as Action }
  const act = useMutation({
    mutationFn: async () => {
      if (action === 'approve') return ask('POST /v1/traffic-switches/{id}/approve', { path, body: { ...said } })
      if (action === 'reverse') return ask('POST /v1/traffic-switches/{id}/reverse', { path, body: {} })
      const body = { ...wanted, expectedVersion: seen, ...said, ...(isTyped && { confirm: typed }) }
      return ask('POST /v1/traffic-switches/{id}/transitions', { path, body })
    },
    onSuccess: async (answer) => {
      await refreshSwitches()
      onClose()
      notifications.show({ message: `${title}: done.` })
      if (action === 'reverse' && 'id' in answer) void navigate({ to: '/traffic/$id', params: { id: answer.id } })
    },
    onError: refreshSwitches,
  })
  const look = useMutation({
    mutationFn: () => ask('POST /v1/traffic-switches/{id}/transitions', { path, body: { ...wanted, dryRun: true } }),
  })
  const lines = look.data && 'dryRun' in look.data ? look.data.dryRun : undefined
  const canLook = !['approve', 'reverse', 'pause', 'dns'].includes(action)
  const failure = act.error ?? look.error
  const needsReason = action === 'accept'
  return (
    <Modal opened onClose={onClose} title={`${title}: ${of.name}`} size="lg" closeOnClickOutside={false}>
      <div className="fields">
        <p>{consequence}</p>
        {isTyped && (
          <TextInput
            label={`Type ${of.name} to confirm`}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            data-autofocus
          />
        )}
        {action !== 'reverse' && (
          <Textarea
            label="Reason"
            description={
              needsReason ? 'Needed, because a check is skipped. Kept in the journal.' : 'Kept in the journal.'
            }
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            autosize
            minRows={2}
            maxLength={1000}
          />
        )}
        {lines && (
          <pre className="code wrap" role="status">
            {lines.length === 0 ? 'It would change nothing outside.' : lines.join('\n')}
          </pre>
        )}
        {failure && (
          <p role="alert" className="bad" style={{ overflowWrap: 'anywhere' }}>
            {failure.message}
          </p>
        )}
        {act.isPending && <p role="status">Under way. It may take some minutes; you may leave this page.</p>}
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          {canLook && (
            <Button variant="default" loading={look.isPending} onClick={() => look.mutate()}>
              Try without changing
            </Button>
          )}
          <Button
            {...(['rollback', 'cleanup', 'abort'].includes(action) && { color: 'red' })}
            disabled={(isTyped && typed !== of.name) || (needsReason && !said)}
            loading={act.isPending}
            onClick={() => act.mutate()}
          >
            {title}
          </Button>
        </div>
      </div>
    </Modal>
  )
}
