/** Uploads a file in parts. It gets its name when all of them are there, so nobody ever sees half of a file. */
import { FatalError, UserError } from '../../errors.ts'
import type { S3Bucket } from './client.ts'
import { explainAnswer } from './failure.ts'
import { asText, valueIn } from './xml.ts'

/** Each part is in memory while it is sent. The store takes at most 10,000 parts, of at least 5 MB except for the last. */
const PART_BYTES = 16 * 1024 ** 2
const MOST_PARTS = 10_000

/** Returns the number of bytes. If it fails, nothing is left. */
export async function upload(bucket: S3Bucket, key: string, packed: AsyncIterable<Buffer>): Promise<number> {
  const { bytes } = await bucket.ask({ method: 'POST', key, query: { uploads: '' } })
  const uploadId = valueIn(Buffer.from(bytes).toString(), 'UploadId')
  if (!uploadId) throw new FatalError(`${bucket.endpoint} began an upload without a number`)
  try {
    const tags: string[] = []
    let size = 0
    for await (const part of inParts(packed)) {
      if (tags.length === MOST_PARTS) {
        throw new UserError('The backup is larger than 160 GB: use the backup program of the database instead.')
      }
      const query = { partNumber: String(tags.length + 1), uploadId }
      const { headers } = await bucket.ask({ method: 'PUT', key, query, body: part })
      tags.push(headers.etag ?? '')
      size += part.length
    }
    await complete(bucket, key, uploadId, tags)
    const about = await bucket.ask({ method: 'HEAD', key })
    if (Number(about.headers['content-length']) !== size) {
      throw new FatalError(`s3://${bucket.name}/${key} has ${about.headers['content-length']} of ${size} bytes`)
    }
    return size
  } catch (error) {
    // An upload that cannot be removed now is removed a day later by another command.
    await bucket.ask({ method: 'DELETE', key, query: { uploadId }, expected: [404] }).catch(() => {})
    throw error
  }
}

async function complete(bucket: S3Bucket, key: string, uploadId: string, tags: readonly string[]): Promise<void> {
  const parts = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${asText(tag)}</ETag></Part>`,
  )
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
  const answer = await bucket.ask({ method: 'POST', key, query: { uploadId }, body, expected: [404] })
  // A store may begin to answer before it knows the outcome, so a failure can also come with 200.
  const isRefused = Buffer.from(answer.bytes).toString().includes('<Error>')
  // A first attempt whose answer was lost may have completed the upload: then the upload is gone and the file is there.
  if (answer.status === 404) {
    const about = await bucket.ask({ method: 'HEAD', key, expected: [404] })
    if (about.status === 200) return
  }
  if (answer.status === 404 || isRefused) throw explainAnswer(answer, bucket)
}

async function* inParts(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const chunk of packed) {
    waiting.push(chunk)
    size += chunk.length
    if (size < PART_BYTES) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}
