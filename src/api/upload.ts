/** Files that are sent as multipart/form-data; a route finds them in its body, beside the fields of the form. */
import multipart from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { messageOf, UserError } from '../errors.ts'
import type { Api } from './api.ts'

const LARGEST_FILE_MB = 20
const LIMITS = { fileSize: LARGEST_FILE_MB * 1024 * 1024, files: 1, fields: 10, fieldSize: 4096 }

/** In a body's schema. */
export const file = z
  .custom<Buffer>((value) => Buffer.isBuffer(value), 'must be a file')
  .meta({ type: 'string', format: 'binary' })
export const consumes = ['multipart/form-data']

/** Routes whose bodies are uploads. */
export function uploadRoutes(api: Api, routes: (api: Api) => void): void {
  void api.register(async (scope) => {
    await scope.register(multipart, { limits: LIMITS })
    scope.addHook('preValidation', async (request) => {
      if (request.method !== 'GET') request.body = await readForm(request)
    })
    routes(scope as Api)
  })
}

async function readForm(request: FastifyRequest): Promise<Record<string, unknown>> {
  if (!request.isMultipart()) throw new UserError('Send multipart/form-data, with the file in the field "file".')
  const form: Record<string, unknown> = {}
  try {
    for await (const part of request.parts()) {
      form[part.fieldname] = part.type === 'file' ? await part.toBuffer() : part.value
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE') {
      throw new UserError(`The file is larger than ${LARGEST_FILE_MB} MB: send it in parts.`, { status: 413 })
    }
    throw new UserError(`The upload cannot be read: ${messageOf(error)}.`, { cause: error })
  }
  return form
}
