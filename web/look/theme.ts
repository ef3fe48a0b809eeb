import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core'

/** The accent colour: light pages use the sixth shade, dark pages the fourth. */
const teal: MantineColorsTuple = [
  '#e6f4f2',
  '#c9eae5',
  '#96d9d0',
  '#5ecabc',
  '#2dd4bf',
  '#149c8f',
  '#0f766e',
  '#0c625b',
  '#0a4f4a',
  '#063b37',
]

/** For deletion and failure. */
const red: MantineColorsTuple = [
  '#fdecea',
  '#fbd5d1',
  '#f5aaa3',
  '#f08c84',
  '#ff7b72',
  '#d64a3f',
  '#c0362c',
  '#a32c24',
  '#85231c',
  '#671a15',
]

/** Slate instead of grey: text, borders, inputs and backgrounds of dark pages. */
const dark: MantineColorsTuple = [
  '#e8eef0',
  '#c3d0d4',
  '#9db0b6',
  '#84979d',
  '#30404a',
  '#22303a',
  '#172026',
  '#10181c',
  '#0b1114',
  '#070b0d',
]

export const theme = createTheme({
  colors: { teal, red, dark },
  primaryColor: 'teal',
  primaryShade: { light: 6, dark: 4 },
  autoContrast: true,
  // Clickable elements have the accent colour, with readable text on it. Both colours differ between light and dark.
  variantColorResolver(input) {
    const colors = defaultVariantColorsResolver(input)
    const name = input.color ?? 'teal'
    if (name !== 'teal' && name !== 'red') return colors
    const own = name === 'teal' ? 'var(--accent)' : 'var(--bad)'
    if (input.variant === 'filled') return { ...colors, background: own, color: 'var(--accent-text)' }
    return input.variant === 'subtle' || input.variant === 'light' ? { ...colors, color: own } : colors
  },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, monospace",
  fontSizes: { xs: '13px', sm: '14px', md: '14px', lg: '16px', xl: '20px' },
  defaultRadius: 6,
  // Gives the close button a name for screen readers.
  components: { CloseButton: { defaultProps: { 'aria-label': 'Close' } } },
})
