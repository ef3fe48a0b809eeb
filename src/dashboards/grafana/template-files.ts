/** Every dashboard that comes with Weir as a file for Grafana. */
import { dashboards } from '../index.ts'
import { ownHealthText } from './own-health.ts'
import { type TemplateTarget, templateText } from './template.ts'
import { ENGINES } from './text.ts'

export const OWN_HEALTH_FILE = 'own-health.json'

/** Name and text, one after another: to make them all takes a while. */
export function* templateFiles(target: TemplateTarget): Generator<readonly [name: string, text: string]> {
  for (const dashboard of dashboards) yield [`${dashboard.name}.json`, templateText(dashboard, target)]
}

/** What the package, the chart and the release hold: a folder for each engine, and the dashboard of Weir itself for Prometheus. */
export function* templatesOfAll(): Generator<readonly [path: string, text: string]> {
  for (const engine of ENGINES) {
    for (const [name, text] of templateFiles({ engine })) yield [`${engine}/${name}`, text]
  }
  yield [`prometheus/${OWN_HEALTH_FILE}`, ownHealthText()]
}
