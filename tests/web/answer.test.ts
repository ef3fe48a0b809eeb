/** The page of the answer: the same figures as the endpoint, each with the items beneath it. */
import { expect, it } from 'vitest'
import { startOrganisation } from '../support/organisation.ts'
import { describeClient } from './support/client.ts'
import { collect, makeShop } from './support/shop.ts'

const TAKES_LONG = { timeout: 300_000 }
const MONTHS = 12

describeClient('the answer', (client) => {
  it('says how a project is doing, and opens what each figure is made of', TAKES_LONG, async () => {
    const github = await startOrganisation()
    const { blueprintId } = await makeShop(client.server, github)
    await collect(client.server, blueprintId)
    const page = await client.open(`/answer?project=shop&months=${MONTHS}`)
    const heading = page.getByRole('heading', { level: 1 })
    await heading.waitFor()
    const asked = page.waitForResponse((response) => response.url().includes('/api/v1/answer?'))
    await page.reload()
    const answer = await (await asked).json()

    const sentence = answer.sentence.map((pieces: any[]) => textOf(pieces)).join(' ')
    await expect.poll(async () => (await heading.innerText()).trim()).toBe(sentence)
    for (const { title, now, restsOn } of answer.keys) {
      const card = page.getByRole('article', { name: title, exact: true })
      await card
        .getByText(now.value === null ? 'no value' : restsOn, { exact: false })
        .first()
        .waitFor()
    }
    const stages = page.getByRole('row', { name: /^Change lead time/ })
    await stages.first().waitFor()

    await page.getByTitle('The items that change lead time is made of').click()
    const drawer = page.getByRole('dialog')
    const [{ now: leadTime }] = answer.keys
    await expect.poll(() => drawer.getByRole('listitem').count()).toBeGreaterThan(0)
    expect(await drawer.getByRole('listitem').count()).toBeLessThanOrEqual(leadTime.counted)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
  })

  it('opens just the items of a part of the range, by keyboard', TAKES_LONG, async () => {
    const page = await client.open('/answer?project=shop&months=12')
    const course = page.getByRole('slider', { name: /Parts of the range/ })
    await course.focus()
    await page.keyboard.press('ArrowLeft')
    await page
      .getByText(/deployments: \d+/)
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/since=.*until=/)
    await page.getByRole('dialog').waitFor()
  })

  it('asks for all projects and for a group', TAKES_LONG, async () => {
    await client.server.ask('POST', '/v1/groups', { name: 'Company', projects: ['shop'] })
    const page = await client.open('/answer')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('radiogroup', { name: 'Whose answer' }).getByText('Group').click()
    await page.getByRole('combobox', { name: 'Group' }).click()
    await page.getByRole('option', { name: 'Company' }).click()
    await page.waitForURL(/group=Company/)
    await page.getByRole('heading', { level: 1 }).waitFor()
  })
})

const textOf = (pieces: readonly (string | { readonly figure: string })[]) =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.figure)).join('')
