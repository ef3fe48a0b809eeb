/** The error codes of PostgreSQL for trouble with the server or a connection. */
import { byName } from '../../basics/by-name.ts'
import type { Tells } from '../again.ts'
import { codeOf, isLostWith, type Trouble } from '../explain.ts'

export const TROUBLES: Record<string, Trouble> = byName({
  '28P01': 'password',
  '28000': 'password',
  '3D000': 'missing',
  '42501': 'rights',
  '25006': 'readOnly',
  '53100': 'diskFull',
  '53300': 'noConnection',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'lost',
  '57P05': 'lost',
  '08000': 'lost',
  '08001': 'lost',
  '08003': 'lost',
  '08006': 'lost',
  '25P03': 'lost',
})

export const isLost: Tells = isLostWith(TROUBLES)

/**
 * True when the server was told to end the connection and did so before it committed. It reports this while waiting for a
 * statement or within one. (57P02, after a crash, may come at any moment and says nothing about the statement.)
 */
export const hadNoEffect: Tells = (error) => ['57P01', '57P05'].includes(codeOf(error))

export const isRetryable: Tells = (error) => ['40P01', '40001', '55P03'].includes(codeOf(error))
