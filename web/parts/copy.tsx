import { Button, CopyButton } from '@mantine/core'

/** Copies a text and confirms it. */
export const Copy = ({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) => (
  <CopyButton value={text} timeout={2_000}>
    {({ copied, copy }) => (
      <Button variant="default" size="compact-sm" onClick={copy} aria-live="polite">
        {copied ? 'Copied' : label}
      </Button>
    )}
  </CopyButton>
)
