import {
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core'

/** Of the accent; the sixth is what light pages use, the fourth what dark ones do. */
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

/** Slate instead of grey: text, borders, inputs and grounds of dark pages. */
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

/** What stands on a filled button must be readable in both themes; Mantine looks at the light one alone. */
const variantColorResolver: VariantColorsResolver = (input) => {
  const colors = defaultVariantColorsResolver(input)
  if (input.variant !== 'filled') return colors
  if (input.color !== 'red') return { ...colors, color: 'var(--accent-text)' }
  return { ...colors, background: 'var(--bad)', hover: 'var(--bad)', color: 'var(--surface)' }
}

export const theme = createTheme({
  variantColorResolver,
  colors: { teal, dark },
  primaryColor: 'teal',
  primaryShade: { light: 6, dark: 4 },
  autoContrast: true,
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, monospace",
  fontSizes: { xs: '13px', sm: '14px', md: '14px', lg: '16px', xl: '20px' },
  defaultRadius: 6,
})
