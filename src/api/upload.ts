/** Files that are sent as multipart/form-data; a route finds them in its body, beside the fields of the form. */
import type { FastifyRequest } from 'fastify'
import { UserError } from '../errors.ts'
import { SIZES } from '../plugin-kit/spec/route-size.ts'
import type { Api } from './api.ts'
import { turnsForLargeBodies } from './large-bodies.ts'

const LARGEST_FILE_MB = 20
const LARGEST_FILE = LARGEST_FILE_MB * 1024 * 1024
const MOST_PARTS = SIZES.file.values
const LONGEST_FIELD = 4096

export const consumes = ['multipart/form-data']

/** Adds routes whose bodies are uploads. */
export function uploadRoutes(api: Api, routes: (api: Api) => void): void {
  const turnFor = turnsForLargeBodies()
  void api.register(async (scope) => {
    scope.addHook('onRequest', async ({ method, headers }) => {
      if (method === 'GET' || method === 'HEAD' || headers['content-type']?.startsWith('multipart/form-data')) return
      throw new UserError('Send multipart/form-data, with the file in the field "file".')
    })
    scope.addContentTypeParser(
      'multipart/form-data',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, bytes: Buffer) => {
        await turnFor(bytes.length)
        return readForm(request.headers['content-type'] ?? '', bytes)
      },
    )
    routes(scope as Api)
  })
}

/** Reads the form whole before parsing it: with parsers of streams, an incomplete form has ended the process. */
async function readForm(type: string, bytes: Buffer): Promise<Record<string, unknown>> {
  requireFewParts(type, bytes)
  const data = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch((error) => {
    throw new UserError('The upload cannot be read: it breaks off, or is no multipart/form-data.', { cause: error })
  })
  const form = new Map<string, unknown>()
  for (const [name, value] of data) {
    if (typeof value === 'string') {
      if (value.length > LONGEST_FIELD)
        throw new UserError(`A field of the form is longer than ${LONGEST_FIELD} characters: shorten it.`)
      form.set(name, value)
    } else {
      if (value.size > LARGEST_FILE) throw tooLarge()
      form.set(name, Buffer.from(await value.arrayBuffer()))
    }
  }
  return Object.fromEntries(form)
}

const tooLarge = () =>
  new UserError(`The file is larger than ${LARGEST_FILE_MB} MB: send it in parts.`, { status: 413 })

function requireFewParts(type: string, bytes: Buffer): void {
  const [, boundary] = /boundary="?([^";,\s]{1,200})/i.exec(type) ?? []
  if (!boundary) throw new UserError('The Content-Type of the upload names no boundary: let your client write it.')
  const edge = `--${boundary}`
  let count = 0
  for (let at = bytes.indexOf(edge); at >= 0; at = bytes.indexOf(edge, at + edge.length)) {
    if (++count > MOST_PARTS) throw new UserError(`The form has more than ${MOST_PARTS} parts: leave some out.`)
  }
}
