/** The page for browsers that have not signed in yet. */
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { accessMode } from './access/access-token.ts'
import { escapeHtml, page } from './page.ts'

const tokenForm = (root: string) => `<form method="post" action="${root}auth/token">
<label>Access token <input name="token" type="password" autocomplete="current-password" required autofocus></label>
<button>Sign in</button></form>
<p>It is the value of <code>AUTH_TOKEN</code>, or else in the file <code>access-token</code> of the data folder.</p>`

function waysIn(config: Config, root: string): string {
  const mode = accessMode(config)
  if (mode === 'open' || mode === 'none')
    return `<p>Nobody has to sign in here. <a href="${root || './'}">Continue</a>.</p>`
  if (mode === 'token') return tokenForm(root)
  const providers = config.oidc.map(({ name, displayName = name }) => {
    const address = `${root}auth/login?provider=${encodeURIComponent(name)}`
    return `<li><a href="${escapeHtml(address)}">Sign in with ${escapeHtml(displayName)}</a></li>`
  })
  return `<ul>${providers.join('')}</ul>`
}

/** `root` leads from the page's address to the server's root; `problem` is what went wrong before. */
export const signInPage = (config: Config, root: '' | '../', problem?: string): string =>
  page('Sign in to Weir', (problem ? `<p><strong>${escapeHtml(problem)}</strong></p>` : '') + waysIn(config, root))

/** True if a person asks with a browser, rather than a program. */
export const wantsPage = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /\btext\/html\b/.test(headers.accept ?? '')
