import { Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import { queries, question } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'

/** Who looks at this, and what they may do; asked again when the window comes back, since sessions end. */
export const useAccess = () => useQuery({ ...question('GET /v1/access'), staleTime: 60_000 })

/** Whether a role lets one do something everywhere; what it lets one do in a project only, the server decides. */
export function useMay(least: 'operator' | 'admin'): boolean {
  const enough = least === 'admin' ? ['admin'] : ['operator', 'admin']
  return useAccess().data?.roles.some(({ role }) => enough.includes(role)) ?? false
}

export function SignIn() {
  const methods = useQuery(question('GET /auth/methods'))
  return (
    <main style={{ maxWidth: 400, margin: '12vh auto' }}>
      <h1 style={{ marginBottom: 8 }}>Sign in to Weir</h1>
      <Asked of={methods}>
        {({ token, providers = [] }) => (
          <div style={{ display: 'grid', gap: 24 }}>
            {providers.map(({ name, displayName, loginUrl }) => (
              <Button key={name} component="a" href={`${loginUrl}&return_url=${encodeURIComponent(location.pathname)}`}>
                Continue with {displayName}
              </Button>
            ))}
            {token.enabled && <TokenForm />}
          </div>
        )}
      </Asked>
    </main>
  )
}

function TokenForm() {
  const [token, setToken] = useState('')
  const [failure, setFailure] = useState('')
  async function submit(event: FormEvent) {
    event.preventDefault()
    try {
      await ask('POST /auth/token', { body: { token } })
      await queries.invalidateQueries()
    } catch (error) {
      setFailure((error as Error).message)
    }
  }
  return (
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
  )
}
