import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { templateText } from '../dashboards/grafana/template.ts'
import { ENGINES, type Engine } from '../dashboards/grafana/text.ts'
import { dashboards as all } from '../dashboards/index.ts'

interface ExportOptions {
  readonly engine: Engine
  readonly out: string
  readonly datasource?: string
}

const exportTemplates = new Command('export')
  .description('write the dashboards as Grafana templates')
  .addOption(new Option('--engine <engine>', 'the database that Grafana asks').choices(ENGINES).makeOptionMandatory())
  .requiredOption('--out <folder>', 'where the files go')
  .option('--datasource <uid>', 'uid of the datasource, for provisioning; without it, whoever imports chooses one')
  .action(({ engine, out, datasource }: ExportOptions) => {
    mkdirSync(out, { recursive: true })
    for (const dashboard of all) {
      writeFileSync(join(out, `${dashboard.name}.json`), templateText(dashboard, { engine, datasource }))
    }
    console.log(`${all.length} dashboards are in ${out}.`)
  })

export const dashboards = new Command('dashboards')
  .description('the dashboards, for Grafana')
  .addCommand(exportTemplates)
