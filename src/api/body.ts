/** Bodies are JSON whatever their Content-Type says, as in DevLake; `curl -d` sends the type of forms. */
import type { FastifyRequest } from 'fastify'
import { parseExact } from '../database/exact-json.ts'
import { messageOf, UserError } from '../errors.ts'

export const LARGEST_BODY = 4 * 1024 * 1024
/** One engine stores no JSON that is deeper than 32; and it would overflow the stack of whoever walks it. */
const DEEPEST = 30

export function parseBody({ headers }: FastifyRequest, text: string): unknown {
  if (text.trim() === '') return undefined
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') && !/^\s*[[{"]/.test(text)
  if (isForm) return Object.fromEntries(new URLSearchParams(text))
  requireShallow(text)
  try {
    return parseExact(text)
  } catch (error) {
    throw new UserError(`The body is not JSON: ${messageOf(error)}.`)
  }
}

function requireShallow(text: string): void {
  let depth = 0
  let isText = false
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position)
    if (isText) {
      if (code === 92) position++
      else if (code === 34) isText = false
    } else if (code === 34) isText = true
    else if (code === 91 || code === 123) {
      if (++depth > DEEPEST) throw new UserError(`The body is nested deeper than ${DEEPEST} levels: make it flatter.`)
    } else if (code === 93 || code === 125) depth--
  }
}
