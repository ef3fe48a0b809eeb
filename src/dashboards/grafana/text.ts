/** Turns statements into text, with Grafana's macros and variables in the places of values. */
import {
  DummyDriver,
  Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import { mysql } from '../../database/mysql/dialect.ts'
import { postgres } from '../../database/postgres/dialect.ts'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { DEFAULT_POLICY } from '../../metrics/policy/policy.ts'
import type { PanelQuery } from '../dashboard.ts'

export const ENGINES = ['postgres', 'mysql'] as const
export type Engine = (typeof ENGINES)[number]

/** Values that are the same for everybody are written into the text. */
class PostgresText extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    this.appendImmediateValue(value)
  }
}
class MysqlText extends MysqlQueryCompiler {
  protected override appendValue(value: unknown): void {
    this.appendImmediateValue(value)
  }
}

const compilers = {
  postgres: new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresText(),
    },
  }),
  mysql: new Kysely<unknown>({
    dialect: {
      createAdapter: () => new MysqlAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new MysqlIntrospector(database),
      createQueryCompiler: () => new MysqlText(),
    },
  }),
}

const DIALECTS = { postgres, mysql }
/** One database engine does not accept the text of a macro as a moment without a cast. */
const MOMENTS: Readonly<Record<Engine, (macro: string) => string>> = {
  postgres: (macro) => `cast(${macro} as timestamptz)`,
  mysql: (macro) => macro,
}

const grafanaQuery = (engine: Engine): PanelQuery => ({
  dialect: DIALECTS[engine],
  from: sql.raw(MOMENTS[engine]('$__timeFrom()')),
  to: sql.raw(MOMENTS[engine]('$__timeTo()')),
  variable: (name) => sql.raw(`\${${name}:sqlstring}`),
  // A template outlives the policy of a project, so it reads the choice from the table of rollouts.
  policy: { ...DEFAULT_POLICY, rollouts: 'as-stored' },
})

/** Splits a statement at its literals, so that every second part is a literal. */
const LITERAL = /('(?:[^']|'')*')/
const CLAUSE = / (from|union all|where|group by|having|order by|limit|(?:left|inner|cross) join) /g

/** Returns the text with each clause on a new line, so that people can read it in Grafana. */
const textOf = (engine: Engine, statement: Sql): string =>
  statement
    .compile(compilers[engine])
    .sql.split(LITERAL)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/\s+/g, ' ').replace(CLAUSE, '\n$1 ')))
    .join('')
    .trim()

export const statementText = (
  engine: Engine,
  { statement }: { readonly statement: (query: PanelQuery) => Sql },
): string => textOf(engine, statement(grafanaQuery(engine)))
