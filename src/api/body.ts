/** Bodies are JSON whatever their Content-Type says, as in DevLake; `curl -d` sends the type of forms. */
import type { FastifyRequest } from 'fastify'
import { parseExact } from '../database/exact-json.ts'
import { tooMuchIn } from '../database/json-size.ts'
import { messageOf, UserError } from '../errors.ts'
import type { SizeLimit } from '../plugin-kit/spec/route-size.ts'

/** One database engine stores no JSON deeper than 32 levels. Deeper values could also overflow the stack of code that walks them. */
const DEEPEST = 30
/** Forms in browsers have only a few fields. */
const MOST_FORM_FIELDS = 100

/** `limit` is that of the route. It is checked on the text, because making objects first would already cost the time. */
export function parseBody({ headers }: Pick<FastifyRequest, 'headers'>, text: string, limit: SizeLimit): unknown {
  if (text.trim() === '') return undefined
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') && !/^\s*[[{"]/.test(text)
  if (isForm) return parseForm(text)
  requireFewValues(text, limit)
  try {
    return parseExact(text)
  } catch (error) {
    throw new UserError(`The body is not JSON: ${messageOf(error)}.`)
  }
}

function parseForm(text: string): unknown {
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++fields > MOST_FORM_FIELDS) {
      throw new UserError(`The form has more than ${MOST_FORM_FIELDS} fields: leave some out.`)
    }
  }
  return Object.fromEntries(new URLSearchParams(text))
}

function requireFewValues(text: string, { values }: SizeLimit): void {
  const tooMuch = tooMuchIn(text, { values, depth: DEEPEST })
  if (tooMuch === 'depth') throw new UserError(`The body is nested deeper than ${DEEPEST} levels: make it flatter.`)
  if (tooMuch === 'values') {
    const message = `The body has more than ${values} names and list items: send less at once.`
    throw new UserError(message, { status: 413 })
  }
}
