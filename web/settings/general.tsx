import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { question } from '../api/queries.ts'
import { signOut } from '../frame/person.tsx'
import { useAccess } from '../frame/sign-in.tsx'
import { THEMES, useTheme } from '../frame/themes.ts'
import { Asked } from '../parts/parts.tsx'
import { Table } from '../parts/table.tsx'
import { SettingsPage } from './settings-page.tsx'

export function GeneralPage() {
  return (
    <SettingsPage title="Settings" says="The state of this installation, and your theme.">
      <div className="sections">
        <Health />
        <Look />
        <Session />
      </div>
    </SettingsPage>
  )
}

const LOOKS = { good: ['good', 'good'], warning: ['attention', 'look at it'], bad: ['bad', 'bad'] } as const
const EVERY_MS = 30_000

function Health() {
  const health = useQuery({ ...question('GET /v1/health'), refetchInterval: EVERY_MS })
  return (
    <section className="card" aria-labelledby="health">
      <h2 id="health" style={{ marginBottom: 8 }}>
        Health
      </h2>
      <Asked of={health}>
        {({ findings }) => (
          <Table heads={['Part', 'State', 'What is known']}>
            {findings.map(({ check, state, message }) => {
              const [look, word] = LOOKS[state]
              return (
                <tr key={check}>
                  <td style={{ fontWeight: 500 }}>{check[0]?.toUpperCase() + check.slice(1)}</td>
                  <td>
                    <span className={`tag ${look}`}>{word}</span>
                  </td>
                  <td className="quiet" style={{ overflowWrap: 'anywhere' }}>
                    {message}
                  </td>
                </tr>
              )
            })}
          </Table>
        )}
      </Asked>
      <p className="small quiet" style={{ marginTop: 12 }}>
        <code className="mono">npx weir doctor</code> also asks every connection whether its source answers.
      </p>
    </section>
  )
}

function Look() {
  const [theme, setTheme] = useTheme()
  return (
    <section className="card row" aria-labelledby="theme" style={{ alignItems: 'center', flexWrap: 'wrap' }}>
      <div>
        <h2 id="theme">Theme</h2>
        <p className="quiet">Remembered in this browser.</p>
      </div>
      <SegmentedControl
        aria-label="Theme"
        data={THEMES.map(({ value, label }) => ({ value, label }))}
        value={theme}
        onChange={(value) => setTheme(value as typeof theme)}
      />
    </section>
  )
}

function Session() {
  const { data: access } = useAccess()
  if (!access) return null
  const roles = access.roles.map(({ role, project }) => (project === undefined ? role : `${role} in ${project}`))
  return (
    <section className="card row" aria-labelledby="session" style={{ alignItems: 'center', flexWrap: 'wrap' }}>
      <div style={{ minWidth: 0 }}>
        <h2 id="session">{access.id ? `Signed in as ${access.name || access.id}` : 'Nobody has to sign in'}</h2>
        <p className="quiet">
          {access.id
            ? `Your roles: ${roles.join(', ')}.`
            : 'Whoever can reach this server may do everything. AUTH=token or AUTH=oidc changes that.'}
        </p>
      </div>
      {access.id && (
        <Button variant="default" onClick={() => void signOut()}>
          Sign out
        </Button>
      )}
    </section>
  )
}
