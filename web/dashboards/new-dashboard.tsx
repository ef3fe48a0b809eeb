import { Button, Modal, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import { refresh } from '../api/queries.ts'

const LONGEST_TITLE = 100
const LONGEST_QUESTION = 255

export function NewDashboard({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [title, setTitle] = useState('')
  const [asked, setAsked] = useState('')
  const making = useMutation({
    mutationFn: () => ask('POST /v1/own-dashboards', { body: { title, question: asked } }),
    onSuccess: async ({ name }) => {
      await refresh('GET /v1/dashboards', 'GET /v1/own-dashboards')
      void navigate({ to: '/dashboards/$dashboard', params: { dashboard: name }, search: { edit: true } })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    making.mutate()
  }
  return (
    <Modal opened onClose={onClose} title="Create your own dashboard" centered>
      <form onSubmit={submit} className="form">
        <TextInput
          label="Name"
          value={title}
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
          maxLength={LONGEST_TITLE}
          error={making.error?.message}
          required
          data-autofocus
        />
        <TextInput
          label="Question"
          description="What it answers, in a sentence"
          value={asked}
          onChange={({ currentTarget }) => setAsked(currentTarget.value)}
          maxLength={LONGEST_QUESTION}
        />
        <div className="actions" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={making.isPending}>
            Create dashboard
          </Button>
        </div>
      </form>
    </Modal>
  )
}
