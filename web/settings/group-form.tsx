import { Button, Modal, MultiSelect, Select, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Group } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Targets } from '../parts/targets.tsx'

interface GroupFormProps {
  /** The group to change; left out: a new one. */
  readonly group?: Group
  readonly groups: readonly Group[]
  readonly onClose: () => void
  readonly onSaved: () => void
}

export function GroupForm({ group, groups, onClose, onSaved }: GroupFormProps) {
  const [name, setName] = useState(group?.name ?? '')
  const [description, setDescription] = useState(group?.description ?? '')
  const [parent, setParent] = useState<string | null>(group?.parent ?? null)
  const [projects, setProjects] = useState<readonly string[]>(group?.projects ?? [])
  const known = useQuery(question('GET /projects', { query: { pageSize: 1000, sort: 'name' } }))
  const names = new Set([...(known.data?.projects ?? []).map((each) => each.name), ...(group?.projects ?? [])])
  const save = useMutation<unknown, Error>({
    mutationFn: () => {
      const body = { name: name.trim(), description, parent, projects: [...projects] }
      return group
        ? ask('PATCH /v1/groups/{group}', {
            path: { group: group.name },
            header: { 'if-match': group.updatedAt },
            body,
          })
        : ask('POST /v1/groups', { body })
    },
    onSuccess: onSaved,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={group ? `Edit ${group.name}` : 'Create a group'}
      size="lg"
      closeOnClickOutside={false}
    >
      <form onSubmit={submit} className="fields">
        <TextInput
          label="Name"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          maxLength={255}
          required
          data-autofocus
        />
        <Textarea
          label="Description"
          value={description}
          onChange={({ currentTarget }) => setDescription(currentTarget.value)}
          maxLength={10_000}
          autosize
        />
        <Select
          label="Inside"
          placeholder="No other group"
          description="The group that contains it."
          data={groups.map((each) => each.name).filter((each) => each !== group?.name)}
          value={parent}
          onChange={setParent}
          clearable
          searchable
        />
        <MultiSelect
          label="Projects"
          description="Those directly in it. The projects of groups in it belong to it as well."
          data={[...names]}
          value={[...projects]}
          onChange={setProjects}
          searchable
        />
        {save.error && (
          <p role="alert" className="bad" style={{ overflowWrap: 'anywhere' }}>
            {save.error.message}
          </p>
        )}
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
            {group ? 'Save' : 'Create group'}
          </Button>
        </div>
      </form>
      {group && <Targets owner={{ group: group.name }} />}
    </Modal>
  )
}
