/** Writes every file that is made from the code; tests/schema.test.ts fails if one is not current. */
import { writeFileSync } from 'node:fs'
import { ownHealthText } from '../src/dashboards/grafana/own-health.ts'
import { templateText } from '../src/dashboards/grafana/template.ts'
import { ENGINES } from '../src/dashboards/grafana/text.ts'
import { dashboards } from '../src/dashboards/index.ts'
import { apiTypesFile, describeApi, renderApiTypes } from './api-types.ts'
import { configurationFile, renderConfiguration } from './render-configuration.ts'
import { dashboardsFile, renderDashboards } from './render-dashboards.ts'
import { renderSources, sourcesFile } from './render-sources.ts'
import { dataModelFile, renderDataModel, renderToolTables, toolTablesFile } from './render-tables.ts'

/** Grafana templates: file and text. */
export const renderTemplates = (): (readonly [URL, string])[] =>
  ENGINES.flatMap((engine) =>
    dashboards.map(
      (dashboard) =>
        [
          new URL(`../dashboards/${engine}/${dashboard.name}.json`, import.meta.url),
          templateText(dashboard, { engine }),
        ] as const,
    ),
  )

/** Of Weir itself. */
export const ownHealthFile = new URL('../dashboards/prometheus/own-health.json', import.meta.url)

export const generatedFiles = async (): Promise<(readonly [URL, string])[]> => [
  [dataModelFile, renderDataModel()],
  [toolTablesFile, renderToolTables()],
  [configurationFile, renderConfiguration()],
  [sourcesFile, renderSources()],
  [dashboardsFile, renderDashboards()],
  [apiTypesFile, renderApiTypes(await describeApi())],
  ...renderTemplates(),
  [ownHealthFile, ownHealthText()],
]

if (import.meta.main) for (const [file, text] of await generatedFiles()) writeFileSync(file, text)
