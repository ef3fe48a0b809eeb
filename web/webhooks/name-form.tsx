import { Button, Modal, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'

interface NameFormProps {
  readonly title: string
  readonly says: string
  readonly action: string
  readonly name?: string
  readonly act: (name: string) => Promise<unknown>
  readonly onClose: () => void
}

export function NameForm({ title, says, action, name: before = '', act, onClose }: NameFormProps) {
  const [name, setName] = useState(before)
  const sending = useMutation({ mutationFn: act })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    sending.mutate(name)
  }
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={false}>
      <form onSubmit={submit} style={{ display: 'grid', gap: 16 }}>
        <TextInput
          label="Name"
          description={says}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={sending.error?.message}
          required
          data-autofocus
        />
        <div style={{ display: 'flex', gap: 8, justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={sending.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
