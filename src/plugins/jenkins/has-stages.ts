import { sql } from 'kysely'
import { type CompletionStep, retrying } from '../../plugin-kit/index.ts'
import { builds } from './entities/builds.ts'
import { stages } from './entities/stages.ts'
import { markOf } from './kit.ts'

/** Marks the builds that have stages, because those builds are not stored as a task of their own. */
export const hasStages: CompletionStep = {
  name: 'enrichApiBuildWithStages',
  domainTypes: ['CICD'],
  table: builds,
  reads: [stages],
  async run({ database, context }, stamp) {
    const own = sql`connection_id = ${context.connectionId}
      and _raw_data_params = ${markOf(context.scope)}`
    const told = sql`full_name in (select build_name from ${sql.table(stages.name)} where ${own})`
    const { numAffectedRows } = await retrying(database, () =>
      sql`update ${sql.table(builds.name)} set has_stages = not has_stages, updated_at = ${stamp}
        where ${own} and has_stages <> (${told})`.execute(database.kysely),
    )
    return Number(numAffectedRows ?? 0)
  },
}
