import { Button, Modal, NumberInput, PasswordInput, SegmentedControl, Select, Switch, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Alert } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { oneOf } from '../parts/words.ts'

interface AlertFormProps {
  /** The alert to change; left out: a new one. */
  readonly alert?: Alert
  readonly onClose: () => void
  readonly onSaved: () => void
}

interface Draft {
  readonly kind: 'threshold' | 'digest'
  readonly name: string
  readonly project: string
  readonly metric: string
  readonly direction: 'above' | 'below'
  /** In the unit that people use: percent, hours. */
  readonly limit: number
  readonly windowDays: number
  readonly forDays: number
  readonly weekday: (typeof WEEKDAYS)[number]
  readonly hour: number
  readonly target: 'webhook' | 'slack'
  readonly url: string
  readonly secret: string
  readonly enable: boolean
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
const HOURS = Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: `${hour}:00 UTC` }))
const DEFAULTS: Draft = {
  kind: 'threshold',
  name: '',
  project: '',
  metric: 'change-failure-rate',
  direction: 'above',
  limit: 15,
  windowDays: 30,
  forDays: 14,
  weekday: 'monday',
  hour: 8,
  target: 'slack',
  url: '',
  secret: '',
  enable: true,
}

/** Converts one unit of the input into the unit of the metric. */
const scaleOf = (unit: string | undefined) => (unit === 'share' ? 0.01 : unit === 'minutes' ? 60 : 1)
function wordOf(unit: string | undefined, amount: number): string {
  if (unit === 'share') return '%'
  const units = unit === 'minutes' ? 'hours' : (unit ?? '')
  return amount === 1 ? oneOf(units) : units
}
const exact = (value: number) => Number(value.toPrecision(12))

const draftOf = (alert: Alert): Draft => ({
  ...DEFAULTS,
  kind: alert.kind,
  name: alert.name,
  project: alert.project ?? '',
  enable: alert.enable,
  metric: alert.metric ?? '',
  direction: alert.direction ?? 'above',
  limit: exact((alert.threshold ?? 0) / scaleOf(alert.unit ?? undefined)),
  windowDays: alert.windowDays ?? 30,
  forDays: alert.forDays ?? 0,
  weekday: alert.weekday ?? 'monday',
  hour: alert.hour ?? 8,
  target: alert.target.kind,
})

function bodyOf(draft: Draft, scale: number) {
  const { kind, name, project, enable, metric, direction, limit, windowDays, forDays, weekday, hour } = draft
  const target = {
    kind: draft.target,
    ...(draft.url && { url: draft.url }),
    ...(draft.target === 'webhook' && draft.secret && { secret: draft.secret }),
  }
  const own =
    kind === 'digest' ? { weekday, hour } : { metric, direction, threshold: exact(limit * scale), windowDays, forDays }
  return { name, project, enable, target, ...own }
}

export function AlertForm({ alert, onClose, onSaved }: AlertFormProps) {
  const [draft, setDraft] = useState<Draft>(alert ? draftOf(alert) : DEFAULTS)
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const metrics = useQuery(question('GET /v1/metrics'))
  const unit = metrics.data?.find(({ name }) => name === draft.metric)?.unit ?? alert?.unit ?? undefined
  const save = useMutation<unknown, Error>({
    mutationFn: () => {
      const body = bodyOf(draft, scaleOf(unit))
      return alert
        ? ask('PATCH /v1/alerts/{id}', { path: { id: alert.id }, body })
        : ask('POST /v1/alerts', { body: { ...body, kind: draft.kind } })
    },
    onSuccess: onSaved,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const part = { draft, set }
  return (
    <Modal
      opened
      onClose={onClose}
      title={alert ? `Edit ${alert.name}` : 'Create an alert'}
      size="lg"
      closeOnClickOutside={false}
    >
      <form onSubmit={submit} className="fields">
        {!alert && (
          <SegmentedControl
            aria-label="What it does"
            value={draft.kind}
            onChange={(kind) => set({ kind: kind as Draft['kind'] })}
            data={[
              { value: 'threshold', label: 'When a number goes wrong' },
              { value: 'digest', label: 'Once a week' },
            ]}
          />
        )}
        <TextInput
          label="Name"
          placeholder={draft.kind === 'digest' ? 'Every Monday' : 'Too many failures'}
          value={draft.name}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          required
          data-autofocus
        />
        <ProjectChoice {...part} />
        {draft.kind === 'digest' ? (
          <DigestFields {...part} />
        ) : (
          <LimitFields {...part} unit={unit} metrics={metrics.data ?? []} />
        )}
        <TargetFields {...part} {...(alert && { alert })} />
        <Switch
          label="Switched on"
          checked={draft.enable}
          onChange={({ currentTarget }) => set({ enable: currentTarget.checked })}
        />
        {save.error && (
          <p role="alert" className="bad">
            {save.error.message}
          </p>
        )}
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {alert ? 'Save' : 'Create alert'}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

interface PartProps {
  readonly draft: Draft
  readonly set: (changes: Partial<Draft>) => void
}

function ProjectChoice({ draft, set }: PartProps) {
  const projects = useQuery(question('GET /projects', { query: { pageSize: 1000, sort: 'name' } }))
  const isDigest = draft.kind === 'digest'
  return (
    <Select
      label="Project"
      placeholder={isDigest ? 'All projects' : 'Choose one'}
      data={(projects.data?.projects ?? []).map(({ name }) => name)}
      value={draft.project || null}
      onChange={(project) => set({ project: project ?? '' })}
      searchable
      clearable={isDigest}
      required={!isDigest}
    />
  )
}

interface LimitFieldsProps extends PartProps {
  readonly unit: string | undefined
  readonly metrics: readonly { readonly name: string; readonly title: string }[]
}

function LimitFields({ draft, set, unit, metrics }: LimitFieldsProps) {
  return (
    <>
      <Select
        label="Metric"
        data={metrics.map(({ name, title }) => ({ value: name, label: title }))}
        value={draft.metric}
        onChange={(metric) => metric && set({ metric })}
        searchable
        allowDeselect={false}
      />
      <Select
        label="Send a message when it is"
        data={[
          { value: 'above', label: 'above' },
          { value: 'below', label: 'below' },
        ]}
        value={draft.direction}
        onChange={(direction) => direction && set({ direction: direction as Draft['direction'] })}
        allowDeselect={false}
      />
      <NumberInput
        label="Limit"
        suffix={` ${wordOf(unit, draft.limit)}`.trimEnd()}
        value={draft.limit}
        onChange={(limit) => set({ limit: Number(limit) })}
        required
      />
      <NumberInput
        label="Over the last days"
        description="The value is calculated over this many days."
        min={1}
        max={366}
        value={draft.windowDays}
        onChange={(days) => set({ windowDays: Number(days) })}
      />
      <NumberInput
        label="For days"
        description="The value must be beyond the limit for this many days; 0: send at once."
        min={0}
        max={366}
        value={draft.forDays}
        onChange={(days) => set({ forDays: Number(days) })}
      />
    </>
  )
}

function DigestFields({ draft, set }: PartProps) {
  return (
    <>
      <Select
        label="Weekday"
        data={WEEKDAYS.map((day) => ({ value: day, label: day.charAt(0).toUpperCase() + day.slice(1) }))}
        value={draft.weekday}
        onChange={(weekday) => weekday && set({ weekday: weekday as Draft['weekday'] })}
        allowDeselect={false}
      />
      <Select
        label="Hour"
        data={HOURS}
        value={String(draft.hour)}
        onChange={(hour) => hour && set({ hour: Number(hour) })}
        allowDeselect={false}
      />
    </>
  )
}

function TargetFields({ draft, set, alert }: PartProps & { readonly alert?: Alert }) {
  return (
    <>
      <Select
        label="Tells"
        data={[
          { value: 'slack', label: 'Slack, or a tool that accepts its messages' },
          { value: 'webhook', label: 'A webhook, signed' },
        ]}
        value={draft.target}
        onChange={(target) => target && set({ target: target as Draft['target'] })}
        allowDeselect={false}
      />
      <TextInput
        label="Address"
        description={
          alert ? `Leave empty to keep ${alert.target.address}` : 'Stored encrypted; only its host is shown.'
        }
        placeholder={draft.target === 'slack' ? 'https://hooks.slack.com/services/…' : 'https://example.org/hooks/weir'}
        value={draft.url}
        onChange={({ currentTarget }) => set({ url: currentTarget.value })}
        required={!alert}
      />
      {draft.target === 'webhook' && (
        <PasswordInput
          label="Secret"
          description={
            alert?.target.hasSecret ? 'Leave empty to keep it.' : 'Messages are signed with it: at least 16 characters.'
          }
          value={draft.secret}
          onChange={({ currentTarget }) => set({ secret: currentTarget.value })}
          required={!alert?.target.hasSecret}
          autoComplete="new-password"
        />
      )}
    </>
  )
}
