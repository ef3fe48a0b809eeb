import { Button } from '@mantine/core'

interface SaveBarProps {
  readonly isChanged: boolean
  readonly isSaving: boolean
  readonly failure: Error | null
  /** The reason why it cannot be saved yet. */
  readonly hint?: string | undefined
  readonly onSave: () => void
  readonly onDiscard: () => void
}

/** Stays visible while there are unsaved changes. */
export function SaveBar({ isChanged, isSaving, failure, hint, onSave, onDiscard }: SaveBarProps) {
  if (!isChanged) return null
  return (
    <div className="save-bar">
      <span className={failure && !hint ? 'bad' : 'quiet'} role={failure ? 'alert' : 'status'}>
        {hint ?? failure?.message ?? 'Your changes are not saved yet.'}
      </span>
      <span className="actions">
        <Button variant="default" onClick={onDiscard} disabled={isSaving}>
          Discard
        </Button>
        <Button onClick={onSave} loading={isSaving} disabled={hint !== undefined}>
          Save changes
        </Button>
      </span>
    </div>
  )
}
