import { Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Blueprint } from '../api/description.ts'
import { SchedulePicker } from './schedule.tsx'

interface WhenProps {
  readonly draft: Blueprint
  readonly change: (changes: Partial<Pick<Blueprint, 'isManual' | 'cronConfig' | 'enable'>>) => void
  readonly isDisabled: boolean
  readonly children?: ReactNode
}

/** Sets when a blueprint runs, for both modes. */
export function When({ draft, change, isDisabled, children }: WhenProps) {
  return (
    <section className="card">
      <h2 style={{ marginBottom: 12 }}>When</h2>
      <div className="stack">
        <SchedulePicker value={draft} onChange={change} isDisabled={isDisabled} />
        <Switch
          label="Switched on"
          description="Off: neither the schedule nor a click starts it."
          checked={draft.enable}
          disabled={isDisabled}
          onChange={({ currentTarget }) => change({ enable: currentTarget.checked })}
        />
        {children}
      </div>
    </section>
  )
}
