import { Page } from '../parts/parts.tsx'

export function StartPage() {
  return (
    <Page title="Start" says="From nothing to the first numbers.">
      {null}
    </Page>
  )
}
