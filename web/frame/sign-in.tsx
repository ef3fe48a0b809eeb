import { Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import { queries, question } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'

/** The user and their roles. Asked again when the window gets the focus, since sessions end. */
export const useAccess = () => useQuery({ ...question('GET /v1/access'), staleTime: 60_000 })

type Access = AnswerTo<'GET /v1/access'>
/** The last known access. When the session ends, a form must not disappear while somebody fills it in. */
let last: Access | undefined

/** True if a role of the user allows something in all projects. What it allows in one project only, the server decides. */
export function useMay(least: 'operator' | 'admin'): boolean {
  const { data } = useAccess()
  if (data && data.roles.length > 0) last = data
  const enough = least === 'admin' ? ['admin'] : ['operator', 'admin']
  return last?.roles.some(({ role }) => enough.includes(role)) ?? false
}

export function SignIn() {
  return (
    <main style={{ maxWidth: 400, margin: '12vh auto' }}>
      <h1 style={{ marginBottom: 8 }}>Sign in to Weir</h1>
      <SignInWays />
    </main>
  )
}

/** If shown over a page, another site opens in a new window, because otherwise the page would be lost. */
export function SignInWays({ isOverPage = false }: { readonly isOverPage?: boolean }) {
  const methods = useQuery(question('GET /auth/methods'))
  return (
    <Asked of={methods}>
      {({ token, providers = [] }) => (
        <div style={{ display: 'grid', gap: 24 }}>
          {providers.map(({ name, displayName, loginUrl }) => (
            <Button
              key={name}
              component="a"
              href={`${loginUrl}&return_url=${encodeURIComponent(location.pathname + location.search)}`}
              {...(isOverPage && { target: '_blank', rel: 'noreferrer' })}
            >
              Continue with {displayName}
            </Button>
          ))}
          {isOverPage && providers.length > 0 && (
            <p className="small quiet">It opens in a new tab; come back to this one when you are signed in.</p>
          )}
          {token.enabled && <TokenForm />}
        </div>
      )}
    </Asked>
  )
}

function TokenForm() {
  const [token, setToken] = useState('')
  const [failure, setFailure] = useState('')
  const [isSending, setSending] = useState(false)
  async function submit(event: FormEvent) {
    event.preventDefault()
    setSending(true)
    try {
      await ask('POST /auth/token', { body: { token } })
      await queries.invalidateQueries()
    } catch (error) {
      setFailure((error as Error).message)
    }
    setSending(false)
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
        data-autofocus
        autoFocus
        autoComplete="current-password"
      />
      <Button type="submit" loading={isSending}>
        Sign in
      </Button>
    </form>
  )
}
