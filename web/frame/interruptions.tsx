/** Messages over a page while the server is away, or after the session has ended. The page itself stays as it is. */
import { Modal } from '@mantine/core'
import { useEffect } from 'react'
import { ask } from '../api/ask.ts'
import { queries } from '../api/queries.ts'
import { useIsSilent } from '../api/silence.ts'
import { SignInWays } from './sign-in.tsx'

const LOOK_MS = 2_000

export function Away() {
  const isSilent = useIsSilent()
  useEffect(() => {
    if (!isSilent) return
    const timer = setInterval(() => {
      // If it gets an answer, the silence ends.
      void ask('GET /version').then(
        () => queries.invalidateQueries(),
        () => {},
      )
    }, LOOK_MS)
    return () => clearInterval(timer)
  }, [isSilent])
  if (!isSilent) return null
  return (
    <p className="away" role="alert">
      The server does not answer; this page continues by itself when it is back.
    </p>
  )
}

export function SessionEnded() {
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session ended"
      centered
    >
      <p className="quiet" style={{ marginBottom: 20 }}>
        Sign in again to continue. What you typed is still there.
      </p>
      <SignInWays isOverPage />
    </Modal>
  )
}
