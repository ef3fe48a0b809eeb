import { ask } from '../api/ask.ts'
import type { Mapping } from '../api/description.ts'

const ruleOf = ({ table, rawTable, rawParams, field, path }: Mapping) => ({
  table,
  rawDataTable: rawTable,
  rawDataParams: rawParams,
  mapping: { [field]: path },
})

/** Starts a run that fills a field from stored records; nothing is collected. */
export const fillNow = (mapping: Mapping) =>
  ask('POST /pipelines', {
    body: {
      name: `Fill ${mapping.table}.${mapping.field}`,
      plan: [[{ plugin: 'customize', subtasks: [], options: { transformationRules: [ruleOf(mapping)] } }]],
    },
  })
