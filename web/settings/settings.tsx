import { Page } from '../parts/parts.tsx'

export function SettingsPage() {
  return (
    <Page title="Settings" says="Keys, people, storage and the state of this server.">
      {null}
    </Page>
  )
}
