/** Words from which titles and remarks are made. */
import type { Luck } from './luck.ts'

const VERBS = ['Add', 'Fix', 'Speed up', 'Simplify', 'Test', 'Show', 'Cache', 'Validate', 'Translate', 'Log']
const WHY = [
  'for guests',
  'on phones',
  'under load',
  'after a timeout',
  'for business customers',
  'in the new region',
  '',
]
const SYMPTOMS = ['answers slowly', 'shows an error', 'loses entries', 'is unavailable', 'counts twice']
export const REMARKS = [
  'Can this be null?',
  'A test for this case, please.',
  'This name could say more.',
  'Do we need it twice?',
  'Nice.',
]
export const LIBRARIES = ['fastify', 'react', 'pg', 'zod', 'vite']

export const workTitle = (luck: Luck, part: string): string => [luck.pick(VERBS), part, luck.pick(WHY)].join(' ').trim()

export const troubleTitle = (luck: Luck, part: string): string =>
  `${part[0]?.toUpperCase()}${part.slice(1)} ${luck.pick(SYMPTOMS)}`
