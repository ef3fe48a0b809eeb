import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { ownHealthText } from '../dashboards/grafana/own-health.ts'
import { templateText } from '../dashboards/grafana/template.ts'
import { ENGINES, type Engine } from '../dashboards/grafana/text.ts'
import { dashboards as all } from '../dashboards/index.ts'

interface ExportOptions {
  readonly engine: Engine
  readonly out: string
  readonly datasource?: string
  readonly prometheus?: string
}

const exportTemplates = new Command('export')
  .description('write the dashboards as Grafana templates')
  .addOption(new Option('--engine <engine>', 'the database that Grafana asks').choices(ENGINES).makeOptionMandatory())
  .requiredOption('--out <folder>', 'where the files go')
  .option('--datasource <uid>', 'uid of the datasource, for provisioning; without it, the import asks for one')
  .option('--prometheus <uid>', 'uid of a Prometheus datasource: the dashboard of Weir itself is written, too')
  .action(({ engine, out, datasource, prometheus }: ExportOptions) => {
    mkdirSync(out, { recursive: true })
    for (const dashboard of all) {
      writeFileSync(join(out, `${dashboard.name}.json`), templateText(dashboard, { engine, datasource }))
    }
    if (prometheus) writeFileSync(join(out, 'own-health.json'), ownHealthText(prometheus))
    console.log(`${all.length + (prometheus ? 1 : 0)} dashboards are in ${out}.`)
  })

export const dashboards = new Command('dashboards')
  .description('the dashboards, for Grafana')
  .addCommand(exportTemplates)
