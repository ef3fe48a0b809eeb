import { Page } from '../parts/parts.tsx'

export function TrafficPage() {
  return (
    <Page title="Traffic" says="Weighted traffic between two clusters.">
      {null}
    </Page>
  )
}
