/** Makes a file for Grafana of every dashboard that comes with Weir. */
import { dashboards } from '../index.ts'
import { ownHealthText } from './own-health.ts'
import { type TemplateTarget, templateText } from './template.ts'
import { ENGINES } from './text.ts'

export const OWN_HEALTH_FILE = 'own-health.json'

/** Returns names and texts one after another, because making all of them takes a while. */
export function* templateFiles(target: TemplateTarget): Generator<readonly [name: string, text: string]> {
  for (const dashboard of dashboards) yield [`${dashboard.name}.json`, templateText(dashboard, target)]
}

/** The files in the package, the chart and the release: a folder for each database engine, and the dashboard about Weir for Prometheus. */
export function* templatesOfAll(): Generator<readonly [path: string, text: string]> {
  for (const engine of ENGINES) {
    for (const [name, text] of templateFiles({ engine })) yield [`${engine}/${name}`, text]
  }
  yield [`prometheus/${OWN_HEALTH_FILE}`, ownHealthText()]
}
