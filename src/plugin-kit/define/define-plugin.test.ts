import { describe, expect, it } from 'vitest'
import { sampleSpec } from '../../../tests/support/sample-plugin.ts'
import { bigint, key } from '../../database/table.ts'
import { type Entity, pluginKit } from '../spec/entity.ts'
import { definePlugin } from './define-plugin.ts'

const [first, ...others] = sampleSpec.entities as [Entity, ...Entity[]]
const define = (...entities: Entity[]) => definePlugin({ ...sampleSpec, entities })
const withSpec = (entity: Entity, spec: Partial<Entity['spec']>): Entity => ({
  ...entity,
  spec: { ...entity.spec, ...spec },
})

describe('definePlugin refuses', () => {
  it('`collect` without `raw`', () => {
    const { raw: _, ...spec } = first.spec
    const collect = { request: () => ({ path: 'things' }) }
    expect(() => define({ ...first, spec: { ...spec, collect } }, ...others)).toThrow(
      `sample: ${spec.label} has \`collect\` without \`raw\`: name the raw table that its records are kept in.`,
    )
  })

  it('a scope that no entity converts', () => {
    const { table, title } = sampleSpec.scope
    const entities = sampleSpec.entities.filter((entity) => entity.table !== table)
    expect(() => define(...entities)).toThrow(
      `sample: no entity converts ${table.name}, so that a ${title.toLowerCase()} would never reach a project`,
    )
  })

  it('tables that a circle of files has not made yet', () => {
    const owns = [{ table: undefined as never, by: { connection_id: 'connection_id' } }]
    expect(() => define(withSpec(first, { raw: 'sample_things', extract: { owns } }), ...others)).toThrow(
      `sample: ${first.spec.label} names a table that does not exist yet, since two files import each other`,
    )
  })

  it('joined and owned rows of other connections', () => {
    const { table, spec } = first
    const rows = () => []
    const joins = { tie: { table, isOptional: false, on: { _raw_data_id: '_raw_data_id' } } }
    expect(() => define(withSpec(first, { convert: { to: [], rows, joins } }), ...others)).toThrow(
      `sample: joins of ${spec.label} would find rows of other connections in ${table.name}: add connection_id: 'connection_id'.`,
    )
    const owns = [{ table, by: { _raw_data_id: '_raw_data_id' } }]
    expect(() => define(withSpec(first, { raw: 'sample_things', extract: { owns } }), ...others)).toThrow(
      `sample: owns of ${spec.label} would find rows of other connections in ${table.name}`,
    )
  })

  it('columns that a table does not have', () => {
    const forEach = { table: first.table, input: () => ({}), changedBy: 'chnaged' }
    const collect = { forEach, request: () => ({ path: 'things' }) }
    expect(() => define(withSpec(first, { raw: 'sample_things', collect }), ...others)).toThrow(
      `changedBy of ${first.spec.label} names the column chnaged, which ${first.table.name} does not have.`,
    )
    const owns = [{ table: first.table, by: { connection_id: 'conection_id' } }]
    expect(() => define(withSpec(first, { raw: 'sample_things', extract: { owns } }), ...others)).toThrow(
      `owns of ${first.spec.label} names the column conection_id`,
    )
  })

  it('tables of another plugin, and raw tables that are not named after this one', () => {
    expect(() => definePlugin({ ...sampleSpec, name: 'simple' })).toThrow(
      "Labels is made by the kit of sample, whose tables are not those of this plugin: write pluginKit('simple').",
    )
    expect(() => define(withSpec(first, { raw: 'sampel_things' }), ...others)).toThrow(
      `${first.spec.label} keeps its records in _raw_sampel_things, which is not named after the plugin: begin \`raw\` with sample_.`,
    )
  })

  it('two collectors with one raw table', () => {
    const collect = { request: () => ({ path: 'things' }) }
    expect(() => define(withSpec(first, { raw: 'sample_issues', collect }), ...others)).toThrow(
      'both collect into _raw_sample_issues: name a raw table for each of them.',
    )
  })

  it('rows that may be those of another scope', () => {
    const people = pluginKit('sample').table('people', 'SamplePerson', { id: key(bigint()) })
    const convert = { to: [], rows: () => [] }
    const strange = { ...first, table: people, spec: { ...first.spec, convert } }
    const reason = (place: string) =>
      `${place} of ${first.spec.label} reads _tool_sample_people, and nothing says which of its rows belong to a scope: add the column \`scopeColumn\` of kit.ts to it, or \`where\` to \`${place}\`.`
    expect(() => define(strange, ...others)).toThrow(reason('convert'))
    expect(() => define({ ...strange, scopeColumnOf: () => 'board_id' }, ...others)).toThrow(
      `scopeColumn of ${first.spec.label} names the column board_id, which _tool_sample_people does not have.`,
    )
    const collect = { forEach: { table: people, input: () => ({}) }, request: () => ({ path: 'things' }) }
    expect(() => define(withSpec(first, { raw: 'sample_things', collect }), ...others)).toThrow(reason('forEach'))
  })

  it('options and rules that do not exist', () => {
    const scope = { ...sampleSpec.scope, options: { boardId: 'board' } }
    expect(() => definePlugin({ ...sampleSpec, scope })).toThrow(
      'sample: the option boardId names the column board, which _tool_sample_boards does not have.',
    )
    const extract = { dependsOn: ['prefiks'] }
    expect(() => define(withSpec(first, { raw: 'sample_things', extract }), ...others)).toThrow(
      `dependsOn of ${first.spec.label} names the field prefiks, which \`scopeConfig.fields\` does not have.`,
    )
  })
})
