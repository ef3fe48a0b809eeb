import { Button, NumberInput, Select } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Targets as TargetList } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Moment } from './parts.tsx'

type Target = TargetList['targets'][number]
type Owner = { readonly project: string } | { readonly group: string }

/** People write percent and hours. */
const scaleOf = (unit: string | undefined) => (unit === 'share' ? 0.01 : unit === 'minutes' ? 60 : 1)
const unitWord = (unit: string | undefined) => (unit === 'share' ? '%' : unit === 'minutes' ? 'hours' : (unit ?? ''))
const exact = (value: number) => Number(value.toPrecision(12))

/** The targets that hold for a project or a group, and a form to set one. */
export function Targets({ owner }: { readonly owner: Owner }) {
  const isAdmin = useMay('admin')
  const targets = useQuery(question('GET /v1/targets', { query: owner }))
  const take = useMutation({
    mutationFn: (metric: string) => ask('PUT /v1/targets', { body: { ...owner, metric, value: null } }),
    onSuccess: () => refresh('GET /v1/targets'),
  })
  return (
    <section className="card" aria-label="Targets">
      <h2 style={{ marginBottom: 4 }}>Targets</h2>
      <p className="small quiet" style={{ marginBottom: 12 }}>
        What each number should be. A project without a target of its own has that of the nearest group around it.
      </p>
      <Asked of={targets}>
        {({ targets: all }) => (
          <TargetTable targets={all} isAdmin={isAdmin} onTake={({ metric }) => take.mutate(metric)} />
        )}
      </Asked>
      {take.error && (
        <p role="alert" className="bad">
          {take.error.message}
        </p>
      )}
      {isAdmin && <TargetForm owner={owner} />}
    </section>
  )
}

interface TargetTableProps {
  readonly targets: readonly Target[]
  readonly isAdmin: boolean
  readonly onTake: (target: Target) => void
}

function TargetTable({ targets, isAdmin, onTake }: TargetTableProps) {
  if (targets.length === 0) return <p className="quiet">No targets yet.</p>
  return (
    <div className="scroll">
      <table className="plain">
        <thead>
          <tr>
            <th>Metric</th>
            <th>Target</th>
            <th>From</th>
            <th>Set by</th>
            {isAdmin && <th aria-label="Actions" />}
          </tr>
        </thead>
        <tbody>
          {targets.map((target) => (
            <tr key={target.metric}>
              <td>{target.title}</td>
              <td>{target.inWords}</td>
              <td style={{ overflowWrap: 'anywhere' }}>
                {target.inheritedFrom === null ? 'here' : `group ${target.inheritedFrom}`}
              </td>
              <td>
                {target.setBy}, <Moment at={target.setAt} />
              </td>
              {isAdmin && (
                <td>
                  {target.inheritedFrom === null && (
                    <Button size="compact-sm" variant="subtle" onClick={() => onTake(target)}>
                      Take away
                    </Button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function TargetForm({ owner }: { readonly owner: Owner }) {
  const metrics = useQuery(question('GET /v1/metrics'))
  const [metric, setMetric] = useState('change-lead-time')
  const [amount, setAmount] = useState<number | string>('')
  const unit = metrics.data?.find(({ name }) => name === metric)?.unit
  const save = useMutation({
    mutationFn: () =>
      ask('PUT /v1/targets', { body: { ...owner, metric, value: exact(Number(amount) * scaleOf(unit)) } }),
    onSuccess: () => {
      setAmount('')
      return refresh('GET /v1/targets')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form onSubmit={submit} className="actions" style={{ alignItems: 'flex-end', marginTop: 12 }}>
      <Select
        label="Metric"
        data={(metrics.data ?? []).map(({ name, title }) => ({ value: name, label: title }))}
        value={metric}
        onChange={(name) => name && setMetric(name)}
        allowDeselect={false}
        searchable
      />
      <NumberInput label={`Target, in ${unitWord(unit)}`} min={0} value={amount} onChange={setAmount} required />
      <Button type="submit" loading={save.isPending} disabled={amount === ''}>
        Set target
      </Button>
      {save.error && (
        <p role="alert" className="bad">
          {save.error.message}
        </p>
      )}
    </form>
  )
}
