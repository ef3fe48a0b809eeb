import { optionalPattern, type Settings } from '../../plugin-kit/index.ts'

/** Returns a function that finds the first match of a pattern in a text, or an empty text if there is none. */
function firstMatch(settings: Settings, field: string) {
  const pattern = optionalPattern(settings[field], field)
  return (text: string): string => {
    const matcher = pattern?.matcher(text)
    return matcher?.find() ? (matcher.group() ?? '') : ''
  }
}

export const rules = (settings: Settings) => ({
  typeOf: firstMatch(settings, 'prType'),
  componentOf: firstMatch(settings, 'prComponent'),
})
