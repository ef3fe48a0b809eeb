import { Button, Modal, MultiSelect, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { ApiKey } from '../api/description.ts'
import { question } from '../api/queries.ts'

/** Patterns to start with; a key may use the paths below /rest that its pattern matches. */
const PATTERNS = [
  { pattern: '/v1/metrics/.*', label: 'Read numbers' },
  { pattern: '/blueprints/\\d+/trigger', label: 'Start runs' },
  { pattern: '/plugins/webhook/.*', label: 'Send to any webhook' },
  { pattern: '.*', label: 'Everything' },
]
const DAY_MS = 86_400_000
const ENDS = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: '', label: 'Never' },
]
const ROLES = [
  { value: 'viewer', label: 'Viewer: read' },
  { value: 'operator', label: 'Operator: also run and send' },
  { value: 'admin', label: 'Admin: everything' },
] as const
/** The type of keys that users create, which DevLake's clients know; the key created along with a webhook has another type. */
const TYPE = 'devlake'

interface NewKeyProps {
  readonly onClose: () => void
  readonly onCreated: (key: ApiKey) => void
}

export function NewKey({ onClose, onCreated }: NewKeyProps) {
  const [name, setName] = useState('')
  const [allowedPath, setPath] = useState(PATTERNS[0]?.pattern ?? '')
  const [days, setDays] = useState('90')
  const [role, setRole] = useState<'viewer' | 'operator' | 'admin'>('viewer')
  const [chosen, setChosen] = useState<string[]>([])
  const projects = useQuery(question('GET /projects', { query: { pageSize: 1000 } }))
  const create = useMutation({
    mutationFn: () =>
      ask('POST /api-keys', {
        body: {
          name,
          type: TYPE,
          allowedPath,
          role,
          ...(days && { expiredAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
          ...(chosen.length > 0 && { projects: chosen }),
        },
      }),
    onSuccess: onCreated,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Modal opened onClose={onClose} title="Create a key" closeOnClickOutside={false} size="lg">
      <form onSubmit={submit} className="fields">
        <TextInput
          label="Name"
          description="What it is for, so that it can be told apart later."
          placeholder="reports"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
          data-autofocus
        />
        <TextInput
          label="Paths that it allows"
          description="A pattern that must match the whole path below /rest."
          value={allowedPath}
          onChange={({ currentTarget }) => setPath(currentTarget.value)}
          required
          styles={{ input: { fontFamily: 'var(--mono)' } }}
        />
        <div className="buttons" style={{ justifyContent: 'flex-start', marginTop: -8 }}>
          {PATTERNS.map(({ pattern, label }) => (
            <Button
              key={pattern}
              variant={pattern === allowedPath ? 'light' : 'default'}
              size="compact-sm"
              aria-pressed={pattern === allowedPath}
              onClick={() => setPath(pattern)}
            >
              {label}
            </Button>
          ))}
        </div>
        <Select
          label="What it may do there"
          data={[...ROLES]}
          value={role}
          onChange={(value) => value && setRole(value as typeof role)}
          allowDeselect={false}
        />
        <MultiSelect
          label="Only in these projects"
          description="None chosen: in all of them."
          data={(projects.data?.projects ?? []).map((each) => each.name)}
          value={chosen}
          onChange={setChosen}
          searchable
          clearable
        />
        <Select
          label="It ends"
          data={ENDS}
          value={days}
          onChange={(value) => setDays(value ?? '')}
          allowDeselect={false}
        />
        {create.error && (
          <p role="alert" className="bad">
            {create.error.message}
          </p>
        )}
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </div>
      </form>
    </Modal>
  )
}
