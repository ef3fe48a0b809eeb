import { Button, Modal } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'

interface AskFirstProps {
  readonly title: string
  /** Tells what is deleted and what stays. */
  readonly children: ReactNode
  /** The label of the button, a verb. */
  readonly action: string
  readonly act: () => Promise<unknown>
  readonly onClose: () => void
}

/** Use this only for actions that cannot be undone. If the action fails, it stays open and shows the reason. */
export function AskFirst({ title, children, action, act, onClose }: AskFirstProps) {
  const doing = useMutation({ mutationFn: act, onSuccess: onClose })
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <div style={{ display: 'grid', gap: 16, overflowWrap: 'anywhere' }}>
        <div className="quiet">{children}</div>
        {doing.error && (
          <p role="alert" className="bad">
            {doing.error.message}
          </p>
        )}
        <div style={{ display: 'flex', gap: 8, justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={onClose}>
            Keep it
          </Button>
          <Button color="red" loading={doing.isPending} onClick={() => doing.mutate()}>
            {action}
          </Button>
        </div>
      </div>
    </Modal>
  )
}
