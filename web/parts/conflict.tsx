import { Button, Modal } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { changedSince, unlessChanged, type Version } from '../api/versions.ts'
import { Moment } from './parts.tsx'

type Values = Readonly<Record<string, unknown>>
type Show = (name: string, value: unknown) => ReactNode

interface SaveOptions<Stored> {
  /** Sends the PATCH with `header`. */
  send(changes: Values, header: ReturnType<typeof unlessChanged>): Promise<Stored>
  /** Titles of the fields that people edit. Differences in other fields do not count as a conflict. */
  readonly labels: Readonly<Record<string, string>>
  /** Shows a value in readable form; left out: as JSON. */
  readonly show?: Show
  onSaved(stored: Stored): void
  /** Lets the form continue from what the other person saved. `kept` has the user's own changes of other fields. */
  onTheirs(current: Stored, kept: Values): void
}

interface Meeting<Stored> {
  readonly seen: Stored
  readonly current: Stored
  readonly changes: Values
}

const isSame = (left: unknown, right: unknown) => JSON.stringify(left ?? null) === JSON.stringify(right ?? null)
const fieldOf = (record: object, name: string) => (record as Values)[name]

/**
 * Saves a record that somebody else may have changed since `seen` was read. Render `conflict`: it is empty until that happens,
 * and then lets the user choose. Other refusals are in `failure`.
 */
export function useSave<Stored extends Version>({ send, labels, show, onSaved, onTheirs }: SaveOptions<Stored>) {
  const [meeting, setMeeting] = useState<Meeting<Stored>>()
  const mutation = useMutation({
    mutationFn: async ({ seen, changes }: Pick<Meeting<Stored>, 'seen' | 'changes'>) => {
      try {
        return await send(changes, unlessChanged(seen))
      } catch (error) {
        const current = changedSince<Stored>(error)
        if (!current) throw error
        // The record changed, for example by a run, but no field that people edit is different.
        if (changedNames(labels, seen, current).length === 0) return send(changes, unlessChanged(current))
        setMeeting({ seen, current, changes })
        return undefined
      }
    },
    onSuccess: (stored) => {
      if (!stored) return
      setMeeting(undefined)
      onSaved(stored)
    },
  })
  const conflict = meeting && (
    <Conflict
      {...meeting}
      labels={labels}
      show={show ?? plainly}
      isSaving={mutation.isPending}
      onClose={() => setMeeting(undefined)}
      onMine={() => mutation.mutate({ seen: meeting.current, changes: overTheirs(meeting) })}
      onTheirs={() => {
        setMeeting(undefined)
        onTheirs(meeting.current, keptOf(labels, meeting))
      }}
    />
  )
  return {
    save: (seen: Stored, changes: Values) => mutation.mutate({ seen, changes }),
    isSaving: mutation.isPending,
    failure: mutation.error,
    forget: mutation.reset,
    conflict: conflict ?? null,
  }
}

const changedNames = (labels: Values, before: object, after: object): string[] =>
  Object.keys(labels).filter((name) => !isSame(fieldOf(before, name), fieldOf(after, name)))

const isTouched = (name: string, seen: object, changes: Values) =>
  name in changes && !isSame(changes[name], fieldOf(seen, name))

/** Forms may send all of their fields. Fields that the user has not changed stay as the other person saved them. */
const overTheirs = ({ seen, current, changes }: Meeting<object>): Values =>
  Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [
      name,
      isTouched(name, seen, changes) || !(name in current) ? value : fieldOf(current, name),
    ]),
  )

const keptOf = (labels: Values, { seen, current, changes }: Meeting<object>): Values => {
  const theirs = changedNames(labels, seen, current)
  return Object.fromEntries(
    Object.entries(changes).filter(([name]) => isTouched(name, seen, changes) && !theirs.includes(name)),
  )
}

function plainly(_name: string, value: unknown): ReactNode {
  if (value === null || value === undefined || value === '') return <span className="faint">nothing</span>
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

interface ConflictProps extends Meeting<Version> {
  readonly labels: Readonly<Record<string, string>>
  readonly show: Show
  readonly isSaving: boolean
  onClose(): void
  onMine(): void
  onTheirs(): void
}

function Conflict({ seen, current, changes, labels, show, isSaving, onClose, onMine, onTheirs }: ConflictProps) {
  const names = changedNames(labels, seen, current)
  return (
    <Modal opened onClose={onClose} title="Somebody else changed this meanwhile" size="lg" centered>
      <p className="quiet" style={{ marginBottom: 16 }}>
        It was saved <Moment at={current.updatedAt} />, after you opened it. Nothing of yours is saved yet, and nothing
        of theirs is lost.
      </p>
      <div className="scroll" style={{ marginBottom: 20 }}>
        <table className="plain">
          <thead>
            <tr>
              <th>Field</th>
              <th>Before</th>
              <th>Theirs</th>
              <th>Yours</th>
            </tr>
          </thead>
          <tbody style={{ overflowWrap: 'anywhere' }}>
            {names.map((name) => (
              <tr key={name}>
                <td style={{ fontWeight: 500 }}>{labels[name]}</td>
                <td className="quiet">{show(name, fieldOf(seen, name))}</td>
                <td>{show(name, fieldOf(current, name))}</td>
                <td>
                  {isTouched(name, seen, changes) ? (
                    show(name, changes[name])
                  ) : (
                    <span className="faint">not touched, stays as theirs</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="actions" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={onTheirs} disabled={isSaving}>
          Take theirs
        </Button>
        <Button variant="default" onClick={onMine} loading={isSaving}>
          Save mine over it
        </Button>
      </div>
    </Modal>
  )
}
