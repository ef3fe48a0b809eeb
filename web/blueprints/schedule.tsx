import { SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { question } from '../api/queries.ts'
import { exactly } from '../parts/words.ts'

export interface Schedule {
  readonly isManual: boolean
  readonly cronConfig: string
}

const FREQUENCIES = [
  { value: 'manual', label: 'By hand' },
  { value: '0 0 * * *', label: 'Daily' },
  { value: '0 0 * * 1', label: 'Weekly' },
  { value: '0 0 1 * *', label: 'Monthly' },
  { value: 'cron', label: 'Cron' },
]

interface SchedulePickerProps {
  readonly value: Schedule
  readonly onChange: (next: Schedule) => void
  readonly isDisabled?: boolean
}

/** Chooses how often a blueprint runs. While a cron expression is typed, the server explains what it means. */
export function SchedulePicker({ value: { isManual, cronConfig }, onChange, isDisabled = false }: SchedulePickerProps) {
  const isPreset = FREQUENCIES.some(({ value }) => value === cronConfig.trim())
  const [isWriting, setWriting] = useState(!isManual && !isPreset)
  const chosen = isManual ? 'manual' : isWriting || !isPreset ? 'cron' : cronConfig.trim()
  function choose(next: string) {
    setWriting(next === 'cron')
    if (next === 'manual') onChange({ isManual: true, cronConfig })
    else if (next === 'cron') onChange({ isManual: false, cronConfig: cronConfig || '0 0 * * *' })
    else onChange({ isManual: false, cronConfig: next })
  }
  return (
    <div className="stack" style={{ gap: 12 }}>
      <SegmentedControl
        aria-label="How often"
        data={FREQUENCIES}
        value={chosen}
        onChange={choose}
        disabled={isDisabled}
        style={{ justifySelf: 'start' }}
      />
      {chosen === 'cron' && (
        <TextInput
          label="Cron expression"
          description="Minute, hour, day of the month, month, day of the week; in UTC."
          value={cronConfig}
          onChange={({ currentTarget }) => onChange({ isManual: false, cronConfig: currentTarget.value })}
          disabled={isDisabled}
          maxLength={255}
          styles={{ input: { fontFamily: 'var(--mono)' } }}
          maw={360}
        />
      )}
      {isManual ? (
        <p className="small quiet">It runs when somebody chooses “Collect now”, and never by itself.</p>
      ) : (
        <Outlook cron={cronConfig} />
      )}
    </div>
  )
}

const moments = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

function Outlook({ cron }: { readonly cron: string }) {
  const [settled] = useDebouncedValue(cron, 250)
  const { data, error } = useQuery({
    ...question('GET /v1/schedules/next', { query: { cron: settled, count: 3 } }),
    placeholderData: (before) => before,
  })
  if (error)
    return (
      <p className="small bad" role="alert">
        {error.message}
      </p>
    )
  if (!data) return null
  return (
    <p className="small quiet" role="status">
      {data.sentence} Next:{' '}
      {data.runs.map((run, index) => (
        <span key={run}>
          {index > 0 && ', '}
          <time dateTime={run} title={exactly(run)} className="number">
            {moments.format(new Date(run))}
          </time>
        </span>
      ))}
      .
    </p>
  )
}
