/**
 * `npm run dashboards` writes the Grafana templates into dashboards/, from the definitions. `npm pack` does it, and so does
 * whoever packs or installs the chart from a clone. What lies there from before goes: a dashboard may have been renamed.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { templatesOfAll } from '../src/dashboards/grafana/template-files.ts'

export const templatesFolder = join(dirname(import.meta.dirname), 'dashboards')

export function writeTemplates(folder = templatesFolder): number {
  rmSync(folder, { recursive: true, force: true })
  let written = 0
  for (const [path, text] of templatesOfAll()) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    written++
  }
  return written
}

if (import.meta.main) console.log(`weir: ${writeTemplates()} templates for Grafana are in dashboards/.`)
