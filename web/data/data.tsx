import { Page } from '../parts/parts.tsx'

export function DataPage() {
  return (
    <Page title="Data" says="What was collected, layer by layer.">
      {null}
    </Page>
  )
}
