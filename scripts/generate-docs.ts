/** Writes every file that is made from the code; tests/schema.test.ts fails if one is not current. */
import { writeFileSync } from 'node:fs'
import { apiTypesFile, describeApi, renderApiTypes } from './api-types.ts'
import { configurationFile, renderConfiguration } from './render-configuration.ts'
import { dashboardsFile, renderDashboards } from './render-dashboards.ts'
import { renderSources, sourcesFile } from './render-sources.ts'
import { dataModelFile, renderDataModel, renderToolTables, toolTablesFile } from './render-tables.ts'

export const generatedFiles = async (): Promise<(readonly [URL, string])[]> => [
  [dataModelFile, renderDataModel()],
  [toolTablesFile, renderToolTables()],
  [configurationFile, renderConfiguration()],
  [sourcesFile, renderSources()],
  [dashboardsFile, renderDashboards()],
  [apiTypesFile, renderApiTypes(await describeApi())],
]

if (import.meta.main) for (const [file, text] of await generatedFiles()) writeFileSync(file, text)
