/** The reference of the API is complete, and a request that is tried there shows its answer. */
import { expect, it } from 'vitest'
import { describeClient } from './support/client.ts'

describeClient('the reference of the API', (client) => {
  it('is one click away on every page', async () => {
    const page = await client.open('/')
    await page.getByRole('link', { name: 'API', exact: true }).click()
    await page.getByRole('heading', { name: /^Weir/ }).waitFor()
    expect(page.url()).toBe(`${client.server.url}/swagger`)
  })

  it('shows every operation of the description', async () => {
    const { body: description } = await client.server.ask('GET', '/swagger/doc.json')
    const paths = Object.values<object>(description.paths)
    const page = await client.open('/swagger')
    // All groups are folded at first, so that the page appears at once.
    const groups = page.locator('.opblock-tag')
    await groups.first().waitFor()
    const tags = new Set(paths.flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)))
    expect(await groups.count()).toBe(tags.size)
    expect(await page.locator('.errors-wrapper').count()).toBe(0)
  })

  it('sends a request and shows the answer, in the browser, with files of this server alone', async () => {
    await client.server.ask('POST', '/projects', { name: 'tried', description: 'in the browser' })
    const page = await client.open('/swagger')
    const hosts = new Set<string>()
    page.on('request', (request) => hosts.add(new URL(request.url()).origin))
    const answer = await page.reload()
    const policy = answer?.headers()['content-security-policy']
    expect(policy).toContain("default-src 'self'")
    expect(policy).not.toContain('unsafe-eval')

    await page.locator('#operations-tag-projects').click()
    const operation = page.locator('.opblock', { has: page.locator('[data-path="/projects/{projectName}"]') }).first()
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByPlaceholder('projectName').fill('tried')
    await operation.getByRole('button', { name: 'Execute' }).click()
    const live = operation.locator('.live-responses-table')
    await live.getByText('"in the browser"').first().waitFor()
    expect(await live.locator('.response-col_status').last().innerText()).toMatch(/^200/)
    expect([...hosts].filter((host) => host.startsWith('http'))).toEqual([client.server.url])
  })
})
