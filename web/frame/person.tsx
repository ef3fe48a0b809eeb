import { Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { ask } from '../api/ask.ts'
import { queries, refresh } from '../api/queries.ts'
import { Icon } from './icon.tsx'
import { useAccess } from './sign-in.tsx'
import { THEMES, useTheme } from './themes.ts'

const FACE = 'M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M3.5 17c.8-3 3.4-4.5 6.5-4.5s5.7 1.5 6.5 4.5'

export async function signOut(): Promise<void> {
  // Answers still under way would only say that nobody is signed in.
  await queries.cancelQueries()
  try {
    const { logoutUrl } = await ask('POST /auth/logout')
    if (logoutUrl) location.assign(logoutUrl)
    else location.assign('/')
  } catch (error) {
    notifications.show({ color: 'red', title: 'You are still signed in', message: (error as Error).message })
    await refresh('GET /v1/access')
  }
}

/** Shows the user. Without sign-in there is no name to show, but still a theme to choose. */
export function Person({ isFolded }: { readonly isFolded: boolean }) {
  const { data: access } = useAccess()
  const [theme, setTheme] = useTheme()
  const name = access?.name || access?.id || 'Theme'
  return (
    <Menu position="top-start" width={200}>
      <Menu.Target>
        <button type="button" className="place" aria-label={access?.id ? `${name}: theme and sign out` : 'Theme'}>
          <Icon path={FACE} /> {!isFolded && <span className="cut">{name}</span>}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {access?.id && <Menu.Label>Theme</Menu.Label>}
        {THEMES.map(({ value, label }) => (
          <Menu.Item key={value} onClick={() => setTheme(value)} rightSection={theme === value ? '✓' : undefined}>
            {label}
          </Menu.Item>
        ))}
        {access?.id && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
