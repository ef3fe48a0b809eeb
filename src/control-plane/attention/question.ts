/** The question about causes, and the words that all causes share. */
import { sql } from 'kysely'
import { among, inPieces } from '../../database/pieces.ts'
import type { Cause } from '../../metrics/answer/answer.ts'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import type { ServiceContext } from '../services.ts'

export type Context = Pick<ServiceContext, 'database' | 'plugins'>

export interface AttentionQuestion {
  /** Undefined: everything that is installed, whether it belongs to a project or not. */
  readonly projects: readonly string[] | undefined
  readonly from: Date
  readonly to: Date
  readonly environment: string
}

export type FindCauses = (context: Context, question: AttentionQuestion) => Promise<readonly Cause[]>

/** The names may be more than one list of a statement takes. */
export function amongNames(column: string, names: readonly string[]): Sql {
  const pieces = [...inPieces(names)].map((piece) => among(sql.ref(column), piece))
  return pieces.length === 0 ? sql`1 = 0` : sql`(${sql.join(pieces, sql` or `)})`
}

/** Rows of the projects that are asked about. Rows without a project belong to no answer of a project. */
export const isAsked = (project: string, { projects }: Pick<AttentionQuestion, 'projects'>): Sql =>
  projects ? amongNames(project, projects) : sql`${sql.ref(project)} <> ''`

const MOST_DETAILS = 5
/** The first few of the raw errors, each once. */
export const detailsOf = (texts: readonly string[]): string[] => {
  const all = [...new Set(texts.filter((text) => text !== ''))]
  const more = all.length - MOST_DETAILS
  return more > 0 ? [...all.slice(0, MOST_DETAILS), `… and ${more.toLocaleString('en')} more`] : all
}

export const firstLine = (text: unknown): string => String(text ?? '').split('\n')[0] as string

/** `14 Nov 2026` */
export const dayInWords = (date: Date): string =>
  date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/** The page of the only project, or the list of them. */
export const pageOf = (projects: readonly string[], tab?: string): string =>
  projects.length === 1 ? `/projects/${encodeURIComponent(projects[0] ?? '')}${tab ? `?tab=${tab}` : ''}` : '/projects'
