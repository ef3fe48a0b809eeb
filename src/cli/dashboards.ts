import { Command, Option } from 'commander'
import { writeUserFolder } from '../basics/user-file.ts'
import { ownHealthText } from '../dashboards/grafana/own-health.ts'
import { OWN_HEALTH_FILE, templateFiles } from '../dashboards/grafana/template-files.ts'
import { ENGINES, type Engine } from '../dashboards/grafana/text.ts'
import { FORCE } from './force.ts'

interface ExportOptions {
  readonly engine: Engine
  readonly out: string
  readonly datasource?: string
  readonly prometheus?: string
  readonly force?: boolean
}

const exportTemplates = new Command('export')
  .description('write the dashboards as Grafana templates')
  .addOption(new Option('--engine <engine>', 'the database that Grafana asks').choices(ENGINES).makeOptionMandatory())
  .requiredOption('--out <folder>', 'where the files go')
  .option('--datasource <uid>', 'uid of the datasource, for provisioning; without it, the import asks for one')
  .option('--prometheus <uid>', 'uid of a Prometheus datasource: the dashboard of Weir itself is written, too')
  .option(...FORCE)
  .action(async ({ engine, out, datasource, prometheus, force = false }: ExportOptions) => {
    const texts = new Map(templateFiles({ engine, datasource }))
    if (prometheus) texts.set(OWN_HEALTH_FILE, ownHealthText(prometheus))
    await writeUserFolder(out, texts, { force })
    console.log(`${texts.size} dashboards are in ${out}.`)
  })

export const dashboards = new Command('dashboards')
  .description('the dashboards, for Grafana')
  .addCommand(exportTemplates)
