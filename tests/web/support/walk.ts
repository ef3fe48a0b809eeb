/** Walks through pages like a person who tries everything: every link once, and every button once. */
import type { Page, Request } from 'playwright-core'

export interface Walk {
  /** Opens an address of the client without reloading it, and waits until nothing is loading. */
  go(address: string): Promise<void>
  /** Returns the addresses of the client that the page links to. */
  links(): Promise<string[]>
  /**
   * Presses each button that has not been pressed on this kind of page. If something is open over the page, only its buttons
   * count. Buttons that delete have a separate round, when nothing needs the deleted objects any more.
   */
  press(address: string, round: 'deletes' | 'others'): Promise<void>
  /** The problems found so far, each with the page where it happened. */
  readonly problems: ReadonlySet<string>
}

const QUIET_MS = 60
const LONGEST_MS = 20_000
const CLICK_MS = 5_000
/** Buttons for the last round. Some ask for confirmation, some can be undone. */
const DELETES = /^(delete|remove|revoke|take out|stop)/i
/** Query parameters whose values make another page of the same path. */
const TELLING = new Set(['tab', 'show', 'step', 'explain'])

/** Returns the kind of a page, independent of its subject: `/projects/*?explain=change-lead-time&months`. */
export function kindOf(address: string): string {
  const { pathname, searchParams } = new URL(address, 'http://pages')
  const path = pathname
    .replace(/^\/(projects|dashboards|shared|runs|blueprints|traffic)\/(?!health$|new$|live$)[^/]+/, '/$1/*')
    .replace(/\/\d+(?=\/|$)/g, '/#')
  const search = [...searchParams].map(([name, value]) => (TELLING.has(name) ? `${name}=${value}` : name)).sort()
  return search.length === 0 ? path : `${path}?${[...new Set(search)].join('&')}`
}

/** The kind of a button: if a page has the same button for many things, one is enough. */
const kindOfButton = (name: string) =>
  name
    .replace(/[\d.,]+/g, '#')
    .split(/\s+/)
    .slice(0, 2)
    .join(' ')

export function walkThrough(page: Page, origin: string): Walk {
  const problems = new Set<string>()
  const pressed = new Set<string>()
  const open = new Set<Request>()
  let doing = ''
  /** In the round that deletes, the subject of a page may have been deleted on an earlier page. */
  let isGone = false
  const isAsked = (request: Request) => !/\/(events|logs?)(\?|$)/.test(request.url())
  page.on('request', (request) => isAsked(request) && open.add(request))
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  page.on('pageerror', ({ message }) => problems.add(`${doing}: ${message}`))
  page.on('response', async (response) => {
    if (response.status() < 400 || isGone) return
    const found = `${doing}: ${response.request().method()} ${kindOf(response.url())} is answered with ${response.status()}`
    const { message = '' } = await response.json().catch(() => ({}))
    problems.add(`${found} ${message}`)
  })
  page.on('filechooser', () => {})
  page.on('dialog', (dialog) => void dialog.dismiss())

  const settle = async () => {
    const end = Date.now() + LONGEST_MS
    for (let quietSince = Date.now(); Date.now() - quietSince < QUIET_MS; ) {
      if (Date.now() > end)
        throw new Error(`${doing}: still waits for ${[...open].map((each) => each.url()).join(', ')}`)
      if (open.size > 0) quietSince = Date.now()
      await page.waitForTimeout(15)
    }
  }
  const look = async () => {
    const said: string[] = await page.evaluate(`
      ['No such page', 'This could not be shown', 'This no longer exists'].filter((text) =>
        [...document.querySelectorAll('h1, h2')].some((each) => each.textContent === text))`)
    for (const text of said) problems.add(`${doing}: “${text}”`)
  }
  const move = async (address: string) => {
    await page.evaluate(
      `history.pushState({}, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate', { state: history.state }))`,
    )
    await settle()
  }
  const here = () => page.url().slice(origin.length)

  interface Button {
    readonly place: number
    readonly name: string
  }
  const isOver = (): Promise<boolean> =>
    page.evaluate(`[...document.querySelectorAll('[role=dialog]')].some((dialog) => dialog.checkVisibility())`)
  const buttons = (within: string): Promise<Button[]> =>
    page.evaluate(`[...document.querySelectorAll('${within} button')].flatMap((button, place) => {
      const isSeen = button.checkVisibility() && !button.disabled && button.getAttribute('aria-disabled') !== 'true'
      const name = (button.getAttribute('aria-label') || button.textContent || button.title).trim()
      return isSeen ? [{ place, name }] : []
    })`)

  return {
    problems,
    async go(address) {
      doing = kindOf(address)
      await move(address)
      await look()
    },
    links: () =>
      page.evaluate(`[...document.querySelectorAll('a[href^="/"]')]
        .filter((link) => !link.getAttribute('href').startsWith('/api/') && !link.hasAttribute('download') && link.target !== '_blank')
        .map((link) => link.getAttribute('href'))`),
    async press(address, round) {
      // Tabs and filters of a page share the buttons of its head.
      const kind = kindOf(address)
      const [path = ''] = kind.split('?')
      doing = kind
      isGone = round === 'deletes'
      await move(address)
      isGone = false
      const within = (await isOver()) ? '[role=dialog]' : 'main'
      const isMeant = ({ name }: Button) => DELETES.test(name) === (round === 'deletes')
      for (;;) {
        const next = (await buttons(within)).find(
          (button) => isMeant(button) && !pressed.has(`${path} ${kindOfButton(button.name)}`),
        )
        if (!next) return
        pressed.add(`${path} ${kindOfButton(next.name)}`)
        doing = `${kind}, button “${next.name}”`
        await page
          .locator(`${within} button`)
          .nth(next.place)
          .click({ timeout: CLICK_MS })
          .catch(() => problems.add(`${doing}: it cannot be pressed`))
        await settle()
        await look()
        // Close whatever opened over the page, and return if the button led to another page.
        await page.keyboard.press('Escape')
        if (within === 'main' && (await isOver())) await move('/')
        if (here() !== address) await move(address)
      }
    },
  }
}
