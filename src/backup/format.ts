/**
 * The form of a backup: gzip around lines of JSON.
 *
 * header    the version, the schema and the encryption key that it needs
 * table     its columns, then a line per row in the order of its keys, then how many there were and their checksum
 * trailer   the checksum of everything before it: a file that was cut has none
 *
 * The same rows give the same lines on both engines, so that backups can be compared byte for byte.
 */
import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import type { Cell } from '../database/fit.ts'
import type { Kind } from '../database/table.ts'
import { FatalError } from '../errors.ts'
import { canonicalJson } from './canonical-json.ts'

export const FORMAT = 1

const KINDS = [
  ...(['string', 'text', 'integer', 'bigint', 'double', 'boolean', 'timestamp', 'date', 'json', 'bytes'] as const),
] satisfies readonly Kind[]
export const isKind = (type: string): type is Kind => (KINDS as readonly string[]).includes(type)

const checksum = z.string().regex(/^[0-9a-f]{64}$/)

export const headerLine = z.object({
  weir: z.literal('backup'),
  format: z.int(),
  madeAt: z.iso.datetime(),
  version: z.string(),
  /** Missing in backups from before schema versions were counted. */
  schemaVersion: z.int().optional(),
  /** Checksum of the tables and columns that this version knows. */
  schema: checksum,
  /** Fingerprint of the encryption key; empty if nothing was ever encrypted. */
  key: z.string(),
})
export const tableLine = z.object({
  table: z.string(),
  columns: z.array(z.string()).min(1),
  /** Columns that users added: kind and size. */
  added: z.array(z.object({ name: z.string(), kind: z.enum(KINDS), size: z.int().nullable() })),
  /** The next number that the database assigns; null if it assigns none. */
  next: z.int().nullable(),
})
export const endLine = z.object({ end: z.string(), rows: z.int(), sha256: checksum })
export const trailerLine = z.object({ tables: z.int(), rows: z.int(), sha256: checksum })

export type Header = z.infer<typeof headerLine>
export type TableLine = z.infer<typeof tableLine>
export type EndLine = z.infer<typeof endLine>
export type Trailer = z.infer<typeof trailerLine>
export type AddedColumn = TableLine['added'][number]

/** A value in the form that a line holds. JSON is stored as its text, so that no digit is lost. */
export function encodeCell(kind: Kind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'timestamp':
      return (value as Date).toISOString()
    case 'date':
      return (value as Date).toISOString().slice(0, 10)
    case 'json':
      return canonicalJson(String(value))
    case 'bytes': {
      const bytes = value as Buffer
      return isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') }
    }
    case 'string':
    case 'text':
      return String(value)
    default:
      return typeof value === 'bigint' ? String(value) : value
  }
}

export function decodeCell(kind: Kind, value: unknown): Cell {
  if (value === null) return null
  switch (kind) {
    case 'timestamp':
    case 'date':
      return new Date(value as string)
    case 'bytes':
      return typeof value === 'string'
        ? Buffer.from(value)
        : Buffer.from((value as { base64: string }).base64, 'base64')
    case 'integer':
    case 'bigint':
      return typeof value === 'string' ? BigInt(value) : (value as number)
    default:
      if (typeof value === 'object') throw new FatalError(`a ${kind} cannot be ${JSON.stringify(value).slice(0, 50)}`)
      return value as Cell
  }
}
