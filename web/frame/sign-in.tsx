import { Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { question, refresh } from '../api/queries.ts'

type Identity = 'unknown' | 'needed' | 'known'

/** Who looks at this; asked again when the window comes back, since sessions end. */
export function useIdentity(): Identity {
  const { data, isError } = useQuery({ ...question('GET /auth/userinfo'), staleTime: 60_000 })
  if (isError) return 'known'
  if (!data) return 'unknown'
  return data.authenticated ? 'known' : 'needed'
}

export function SignIn() {
  const methods = useQuery(question('GET /auth/methods'))
  const [token, setToken] = useState('')
  const [failure, setFailure] = useState('')
  const byProvider = JSON.stringify(methods.data ?? '').includes('oidc')
  async function submit(event: FormEvent) {
    event.preventDefault()
    const answer = await fetch('/auth/token', {
      method: 'POST',
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    })
    if (answer.type === 'opaqueredirect' || answer.ok) return refresh('GET /auth/userinfo')
    setFailure('This token does not open Weir. The start of the server printed one; `weir token` shows it again.')
  }
  return (
    <main style={{ maxWidth: 400, margin: '12vh auto' }}>
      <h1 style={{ marginBottom: 8 }}>Sign in to Weir</h1>
      {byProvider ? (
        <Button component="a" href="/auth/login">
          Continue with your organisation
        </Button>
      ) : (
        <form onSubmit={submit} style={{ display: 'grid', gap: 16 }}>
          <p className="quiet">With the access token that the server printed when it started.</p>
          <PasswordInput
            label="Access token"
            value={token}
            onChange={({ currentTarget }) => setToken(currentTarget.value)}
            error={failure}
            required
            autoFocus
            autoComplete="current-password"
          />
          <Button type="submit">Sign in</Button>
        </form>
      )}
    </main>
  )
}
