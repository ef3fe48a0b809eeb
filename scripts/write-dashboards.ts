/**
 * `npm run dashboards` writes the Grafana templates into dashboards/, from the definitions. `npm pack` runs it, and so does
 * whoever packs or installs the chart from a clone. Other templates in the folder are removed, because a dashboard may have
 * been renamed.
 */
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { templatesOfAll } from '../src/dashboards/grafana/template-files.ts'

const templatesFolder = join(dirname(import.meta.dirname), 'dashboards')

export function writeTemplates(folder = templatesFolder): number {
  const paths = new Set<string>()
  for (const [path, text] of templatesOfAll()) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    paths.add(file)
  }
  for (const path of globSync('*/*.json', { cwd: folder })) {
    if (!paths.has(join(folder, path))) rmSync(join(folder, path))
  }
  return paths.size
}

if (import.meta.main) console.log(`weir: ${writeTemplates()} templates for Grafana are in dashboards/.`)
