import './settings.css'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../frame/sign-in.tsx'
import { Empty, Page } from '../parts/parts.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { SETTINGS } from './rooms.ts'

interface SettingsPageProps {
  readonly title: string
  readonly says: ReactNode
  readonly actions?: ReactNode
  readonly isForAdmins?: boolean
  readonly children: ReactNode
}

export function SettingsPage({ title, says, actions, isForAdmins = false, children }: SettingsPageProps) {
  const isAdmin = useMay('admin')
  const isHidden = isForAdmins && !isAdmin
  return (
    <Page title={title} says={says} {...(actions && !isHidden && { actions })}>
      <Tabs label="Settings">
        {SETTINGS.filter((each) => isAdmin || !each.isForAdmins).map(({ to, title: name }) => (
          <Link
            key={to}
            to={to}
            activeProps={{ 'aria-current': 'page' }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {name}
          </Link>
        ))}
      </Tabs>
      {isHidden ? (
        <Empty title="Only admins see this">Ask an admin for the role, or for what you want to know.</Empty>
      ) : (
        children
      )}
    </Page>
  )
}
