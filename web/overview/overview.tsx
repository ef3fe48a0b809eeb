import { Page } from '../parts/parts.tsx'

export function OverviewPage() {
  return (
    <Page title="Overview" says="How all projects do, and what needs a hand.">
      {null}
    </Page>
  )
}
