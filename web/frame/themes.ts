import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'

export const THEMES: readonly { readonly value: MantineColorScheme; readonly label: string }[] = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'As this device' },
]

export function useTheme(): readonly [MantineColorScheme, (theme: MantineColorScheme) => void] {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return [colorScheme, setColorScheme]
}
