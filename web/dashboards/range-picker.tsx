import { Button, Popover, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { dayText } from './cells.ts'
import type { Period } from './view.ts'

export const DEFAULT_RANGE: Period = { from: 'now-6M', to: 'now' }

const QUICK: readonly (Period & { readonly label: string })[] = [
  { label: 'Last 30 days', from: 'now-30d', to: 'now' },
  { label: 'Last 90 days', from: 'now-90d', to: 'now' },
  { label: 'Last 6 months', from: 'now-6M', to: 'now' },
  { label: 'Last year', from: 'now-1y', to: 'now' },
  { label: 'Last 2 years', from: 'now-2y', to: 'now' },
  { label: 'This month', from: 'now/M', to: 'now' },
  { label: 'Last month', from: 'now-1M/M', to: 'now-1M/M' },
  { label: 'This quarter', from: 'now/Q', to: 'now' },
  { label: 'Last quarter', from: 'now-1Q/Q', to: 'now-1Q/Q' },
  { label: 'This year', from: 'now/y', to: 'now' },
]

interface RangePickerProps {
  /** The range as written in the address. */
  readonly range: Period
  /** The present start and end of the range, if already known. */
  readonly moments: Period | undefined
  readonly onChoose: (range: Period) => void
}

export function RangePicker({ range, moments, onChoose }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false)
  const quick = QUICK.find(({ from, to }) => from === range.from && to === range.to)
  const words = moments ? `${dayText(moments.from)} – ${dayText(moments.to)}` : `${range.from} – ${range.to}`
  const choose = (chosen: Period) => {
    setOpen(false)
    onChoose(chosen)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withRoles shadow="md">
      <Popover.Target>
        <Button variant="default" onClick={() => setOpen(!isOpen)} title={words}>
          {quick?.label ?? words}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Time range">
        <div className="ranges">
          <div className="quick">
            {QUICK.map(({ label, from, to }) => (
              <button
                key={label}
                type="button"
                className="choice"
                aria-pressed={label === quick?.label}
                onClick={() => choose({ from, to })}
              >
                {label}
              </button>
            ))}
          </div>
          <CustomRange range={range} moments={moments} onChoose={choose} />
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

const dayOf = (moment: string | undefined) => moment?.slice(0, 10) ?? ''

function CustomRange({ range, moments, onChoose }: RangePickerProps) {
  const [from, setFrom] = useState(dayOf(moments?.from))
  const [to, setTo] = useState(dayOf(moments?.to))
  const isBackwards = from > to
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // The range includes both days.
    if (!isBackwards) onChoose({ from: `${from}T00:00:00.000Z`, to: `${to}T23:59:59.999Z` })
  }
  return (
    <form onSubmit={submit} className="custom">
      <h3>From day to day</h3>
      <TextInput
        type="date"
        label="From"
        value={from}
        onChange={({ currentTarget }) => setFrom(currentTarget.value)}
        required
      />
      <TextInput
        type="date"
        label="To (inclusive)"
        value={to}
        onChange={({ currentTarget }) => setTo(currentTarget.value)}
        error={isBackwards ? 'It is before the first day.' : undefined}
        required
      />
      <Button type="submit" variant="default">
        Show
      </Button>
      <p className="small faint">
        Days are of UTC. Now: <span className="mono">{range.from}</span> to <span className="mono">{range.to}</span>
      </p>
    </form>
  )
}
