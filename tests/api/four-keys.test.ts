/** The four keys of many projects at once equal those of each project alone. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { fourKeys } from '../../src/metrics/index.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { FAILED } from './support/contract.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const STEPS = 30
const range = `from=${new Date(START).toISOString()}&to=${new Date(START + STEPS * DAY).toISOString()}`

describeEachWithTables('the four keys of many projects', (test) => {
  let api: TestApi
  let names: string[]
  beforeAll(async () => {
    api = await startTestApi(test.database)
    const { rows, truths } = plantOrganisation(3, STEPS)
    names = truths.map(({ project }: any) => project)
    await write(test.database, rows)
    for (const name of names) await calculate(test.database, name)
  })
  afterAll(() => api.close())
  const asked = (projects: readonly string[], more = '') =>
    `/v1/four-keys?${projects.map((name) => `project=${encodeURIComponent(name)}`).join('&')}&${range}${more}`

  it('are those of each alone, in the order asked for', async () => {
    const backwards = [...names].reverse()
    const { status, body } = await api.ask('GET', asked(backwards))
    expect(status).toBe(200)
    expect(body.projects.map(({ project }: any) => project)).toEqual(backwards)
    for (const { project, keys } of body.projects) {
      expect(keys.map(({ metric }: any) => metric)).toEqual(fourKeys.map(({ name }) => name))
      for (const { metric, points, restsOn, ...value } of keys) {
        expect(restsOn).toContain(value.counted === 0 ? '' : String(value.counted))
        const query = `?project=${encodeURIComponent(project)}&${range}`
        const alone = (await api.ask('GET', `/v1/metrics/${metric}${query}`)).body
        expect({ ...alone, ...alone.values[0] }).toMatchObject(value)
        expect((await api.ask('GET', `/v1/metrics/${metric}/series${query}`)).body.points).toEqual(points)
      }
    }
    const values = body.projects.flatMap(({ keys }: any) => keys.map(({ value }: any) => value))
    expect(values.filter((value: unknown) => value !== null).length).toBeGreaterThan(6)
  })

  it('leave out what is not there, and refuse what is too much', async () => {
    const [name = ''] = names
    const { body } = await api.ask('GET', asked(['nobody', name, name]))
    expect(body.projects.map(({ project }: any) => project)).toEqual([name])
    expect((await api.ask('GET', asked(['nobody']))).body.projects).toEqual([])
    const many = Array.from({ length: 51 }, (_, index) => `p${index}`)
    expect(await api.ask('GET', asked(many))).toMatchObject({ status: 400, body: FAILED })
    expect((await api.ask('GET', asked(many.slice(1)))).status).toBe(200)
    expect(await api.ask('GET', '/v1/four-keys')).toMatchObject({ status: 400, body: FAILED })
  })
})
