import { describe, expect, it } from 'vitest'
import { sampleSpec } from '../../../tests/support/sample-plugin.ts'
import type { Entity } from '../spec/entity.ts'
import { definePlugin } from './define-plugin.ts'

const [first, ...others] = sampleSpec.entities as [Entity, ...Entity[]]
const define = (...entities: Entity[]) => definePlugin({ ...sampleSpec, name: 'refused', entities })
const withSpec = (entity: Entity, spec: Partial<Entity['spec']>): Entity => ({
  ...entity,
  spec: { ...entity.spec, ...spec },
})

describe('definePlugin refuses', () => {
  it('`collect` without `raw`', () => {
    const { raw: _, ...spec } = first.spec
    const collect = { request: () => ({ path: 'things' }) }
    expect(() => define({ ...first, spec: { ...spec, collect } }, ...others)).toThrow(
      `refused: ${spec.label} has \`collect\` without \`raw\`: name the raw table that its records are kept in.`,
    )
  })

  it('a scope that no entity converts', () => {
    const { table, title } = sampleSpec.scope
    const entities = sampleSpec.entities.filter((entity) => entity.table !== table)
    expect(() => define(...entities)).toThrow(
      `refused: no entity converts ${table.name}, so that a ${title.toLowerCase()} would never reach a project`,
    )
  })

  it('tables that a circle of files has not made yet', () => {
    const owns = [{ table: undefined as never, by: { connection_id: 'connection_id' } }]
    expect(() => define(withSpec(first, { raw: 'refused_things', extract: { owns } }), ...others)).toThrow(
      `refused: ${first.spec.label} names a table that does not exist yet, since two files import each other`,
    )
  })

  it('joined and owned rows of other connections', () => {
    const { table, spec } = first
    const rows = () => []
    const joins = { tie: { table, isOptional: false, on: { _raw_data_id: '_raw_data_id' } } }
    expect(() => define(withSpec(first, { convert: { to: [], rows, joins } }), ...others)).toThrow(
      `refused: joins of ${spec.label} would find rows of other connections in ${table.name}: add connection_id: 'connection_id'.`,
    )
    const owns = [{ table, by: { _raw_data_id: '_raw_data_id' } }]
    expect(() => define(withSpec(first, { raw: 'refused_things', extract: { owns } }), ...others)).toThrow(
      `refused: owns of ${spec.label} would find rows of other connections in ${table.name}`,
    )
  })

  it('columns that a table does not have', () => {
    const forEach = { table: first.table, input: () => ({}), changedBy: 'chnaged' }
    const collect = { forEach, request: () => ({ path: 'things' }) }
    expect(() => define(withSpec(first, { raw: 'refused_things', collect }), ...others)).toThrow(
      `changedBy of ${first.spec.label} names the column chnaged, which ${first.table.name} does not have.`,
    )
    const owns = [{ table: first.table, by: { connection_id: 'conection_id' } }]
    expect(() => define(withSpec(first, { raw: 'refused_things', extract: { owns } }), ...others)).toThrow(
      `owns of ${first.spec.label} names the column conection_id`,
    )
  })
})
