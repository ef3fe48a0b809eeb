import { counted } from '../basics/counted.ts'

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** Formats a size, such as `3.2 MB`. */
export function bytesInWords(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  return power === 0 ? counted(bytes, 'byte') : `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`
}
