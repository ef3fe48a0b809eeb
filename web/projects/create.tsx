import { Button, Drawer, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'

/** Checks while a name is typed whether it is free. The project's present name, `own`, is allowed. */
export function useFreeName(name: string, own?: string): string | undefined {
  const [settled] = useDebouncedValue(name.trim(), 250)
  const { data } = useQuery({
    ...question('GET /projects/{projectName}/check', { path: { projectName: settled } }),
    enabled: settled !== '' && settled !== own,
  })
  return settled !== '' && settled !== own && settled === name.trim() && data?.exist
    ? 'There is already a project with this name: choose another.'
    : undefined
}

interface NewProjectProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewProject({ isOpen, onClose }: NewProjectProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      title="New project"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isOpen && <Form />}
    </Drawer>
  )
}

function Form() {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const taken = useFreeName(name)
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: () =>
      ask('POST /projects', {
        body: { name: name.trim(), description, metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }] },
      }),
    onSuccess: async (project) => {
      await refresh('GET /projects')
      void navigate({ to: '/projects/$name', params: { name: project.name }, search: { tab: 'blueprint' } })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    create.mutate()
  }
  return (
    <form onSubmit={submit} className="stack">
      <TextInput
        label="Name"
        description="As people call it: “Shop”, “Payments”. It can be changed later."
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={taken ?? create.error?.message}
        maxLength={100}
        required
        data-autofocus
      />
      <Textarea
        label="Description"
        description="One sentence that says what it ships; shown on its page."
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        maxLength={1000}
        autosize
        minRows={2}
      />
      <p className="small quiet">
        It starts with the four keys, collects every day at midnight UTC and goes six months back. Next you choose what
        belongs to it.
      </p>
      <div>
        <Button type="submit" loading={create.isPending} disabled={name.trim() === '' || taken !== undefined}>
          Create project
        </Button>
      </div>
    </form>
  )
}
