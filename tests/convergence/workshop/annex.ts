/**
 * Another tool, whose name begins with the workshop's and whose boards have the same numbers, so its scopes have the same
 * params text. It shares no settings with the workshop, and operations on the workshop's data must not change its rows.
 */
import { bigint, key, string } from '../../../src/database/table.ts'
import { cicdPipelines, cicdScopes } from '../../../src/domain/devops.ts'
import { definePlugin } from '../../../src/plugin-kit/define/define-plugin.ts'
import { linkHeader } from '../../../src/plugin-kit/http/index.ts'
import { pluginKit } from '../../../src/plugin-kit/spec/entity.ts'
import { workshopSpec } from './plugin.ts'

const kit = pluginKit('workshop_annex')

const boards = kit.table('boards', 'AnnexBoard', { id: key(bigint()), name: string(), scope_config_id: bigint() })
const builds = kit.table('builds', 'AnnexBuild', {
  id: key(bigint()),
  board_id: bigint((_record: unknown, { scope }: any) => scope.id),
  status: string(20),
})

const entity = kit.entityMaker<{ readonly id: number }, unknown>({ scopeColumn: 'board_id', scopeKey: 'id' })

const boardEntity = entity(boards, {
  label: 'Boards',
  domainTypes: ['CICD'],
  convert: {
    to: [cicdScopes],
    where: ({ id }) => ({ id }),
    rows: ({ id, name }, { idOf }) => [cicdScopes.row({ id: idOf(boards, id), name })],
  },
})

const buildEntity = entity(builds, {
  label: 'Builds',
  domainTypes: ['CICD'],
  raw: 'workshop_annex_builds',
  collect: { request: ({ scope }) => ({ path: `boards/${scope.id}/builds` }), paging: linkHeader(2) },
  convert: {
    to: [cicdPipelines],
    rows: ({ id, status, board_id }, { idOf }) => [
      cicdPipelines.row({ id: idOf(builds, id), status, cicd_scope_id: idOf(boards, board_id) }),
    ],
  },
})

export const workshopAnnex = definePlugin({
  name: 'workshop_annex',
  title: 'Annex of the workshop',
  spelling: 'camel',
  connection: workshopSpec.connection,
  scope: { ...workshopSpec.scope, table: boards },
  scopeConfig: { fields: {}, prepare: () => ({}) },
  entities: [boardEntity, buildEntity],
})
