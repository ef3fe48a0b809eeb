/** The files of the chart, before Helm reads them. */
import { readdirSync, readlinkSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryFiles } from './support/dockerfile.ts'
import { read, root, version } from './support/weir.ts'

describe('the chart', () => {
  it('has the version of the package', () => {
    expect(parse(read('deploy/chart/Chart.yaml'))).toMatchObject({ version, appVersion: version })
  })

  it('links to folders that a clone has from the beginning', () => {
    const files = repositoryFiles()
    const folder = join(root, 'deploy/chart')
    const links = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isSymbolicLink())
    expect(links.map(({ name }) => name).sort()).toEqual(['dashboards', 'prometheus'])
    for (const { name } of links) {
      const target = relative(root, resolve(folder, readlinkSync(join(folder, name))))
      expect(
        files.some((path) => path.startsWith(`${target}/`)),
        name,
      ).toBe(true)
    }
  })

  it('has no secret among its values', () => {
    const found: string[] = []
    const walk = (value: unknown, path: string): void => {
      if (typeof value === 'object' && value !== null) {
        for (const [key, each] of Object.entries(value)) walk(each, `${path}.${key}`)
      } else if (/(password|secret|token|url)$/i.test(path) && typeof value === 'string' && value !== '')
        found.push(path)
    }
    walk(parse(read('deploy/chart/values.yaml')), 'values')
    expect(found).toEqual([])
  })

  it('describes every value in its schema', () => {
    const undescribed: string[] = []
    const walk = (value: unknown, schema: any, path: string): void => {
      if (!schema) undescribed.push(path)
      else if (typeof value === 'object' && value !== null && !Array.isArray(value) && schema.properties) {
        for (const [key, each] of Object.entries(value)) walk(each, schema.properties[key], `${path}.${key}`)
      }
    }
    walk(parse(read('deploy/chart/values.yaml')), JSON.parse(read('deploy/chart/values.schema.json')), 'values')
    expect(undescribed).toEqual([])
  })
})
