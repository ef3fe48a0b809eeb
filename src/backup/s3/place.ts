import { Readable } from 'node:stream'
import { FatalError, UserError } from '../../errors.ts'
import { backupNames, momentOf, NAME_START } from '../backup-name.ts'
import { type BackupPlace, type BackupSource, DAY_MS } from '../backup-place.ts'
import { openBucket, type S3Bucket, type S3Request, type S3Settings } from './client.ts'
import { upload } from './upload.ts'
import { elementsIn, valueIn } from './xml.ts'

/** `s3://bucket/some/prefix`, or the same with a name at its end. */
interface S3Address {
  readonly bucket: string
  /** Without a slash at either end; empty for the bucket itself. */
  readonly path: string
}

export const isS3 = (target: string): boolean => /^s3:/i.test(target)

export function parseS3(target: string): S3Address {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/i.exec(target) ?? []
  const parts = path.split('/').filter((part) => part !== '')
  if (bucket === undefined || parts.some((part) => part === '.' || part === '..')) {
    throw new UserError(`${target} is not the address of a bucket: write s3://BUCKET or s3://BUCKET/PREFIX.`)
  }
  return { bucket, path: parts.join('/') }
}

export function s3Place(target: string, settings: S3Settings): BackupPlace {
  const { bucket: bucketName, path } = parseS3(target)
  const bucket = openBucket(bucketName, settings)
  const start = path === '' ? '' : `${path}/`
  const keyOf = (name: string) => `${start}${name}`
  const pathOf = (name: string) => `s3://${bucketName}/${keyOf(name)}`
  const list = async () => {
    const keys = await keysIn(bucket, `${start}${NAME_START}`)
    return backupNames(keys.map((key) => key.slice(start.length)))
  }
  return {
    pathOf,
    async check(name) {
      if ((await list()).includes(name)) throw new UserError(`${pathOf(name)} exists already: try again in a second.`)
    },
    list,
    async write(name, produce) {
      let size = 0
      const result = await produce(async (packed) => {
        size = await upload(bucket, keyOf(name), packed)
      })
      return { result, size }
    },
    source: (name) => objectSource(bucket, keyOf(name)),
    async remove(name) {
      await bucket.ask({ method: 'DELETE', key: keyOf(name), expected: [404] })
    },
    tidy: (now) => abortOld(bucket, start, now),
    close: () => bucket.close(),
  }
}

/** A backup that is named by its address. */
export function namedObject(target: string, settings: S3Settings): BackupSource & { close(): Promise<void> } {
  const { bucket: bucketName, path } = parseS3(target)
  const bucket = openBucket(bucketName, settings)
  return { ...objectSource(bucket, path), close: () => bucket.close() }
}

const objectSource = (bucket: S3Bucket, key: string): BackupSource => ({
  name: `s3://${bucket.name}/${key}`,
  open: () => Readable.from(piecesOf(bucket, key)),
})

const FIRST_PIECE = 64 * 1024
const LARGEST_PIECE = 16 * 1024 ** 2

/** Reads piece by piece, because a database is slower than a network and a store does not wait. */
async function* piecesOf(bucket: S3Bucket, key: string): AsyncGenerator<Uint8Array> {
  const about = key === '' ? undefined : await bucket.ask({ method: 'HEAD', key, expected: [404] })
  if (about?.status !== 200) throw await missing(bucket, key)
  const size = Number(about.headers['content-length'])
  const tag = about.headers.etag ?? ''
  const name = `s3://${bucket.name}/${key}`
  let length = FIRST_PIECE
  for (let from = 0; from < size; ) {
    const end = Math.min(from + length, size) - 1
    const headers = { range: `bytes=${from}-${end}`, ...(tag && { 'if-match': tag }) }
    const piece = await bucket.ask({ method: 'GET', key, headers, expected: [404, 412] })
    if (piece.status === 404 || piece.status === 412) {
      throw new UserError(`${name} was replaced or removed while it was read: run the command again.`)
    }
    if (piece.status !== 206 && !(from === 0 && end === size - 1)) {
      throw new FatalError(`${bucket.endpoint} does not give parts of a file (it answered ${piece.status})`)
    }
    yield piece.bytes
    from = end + 1
    length = Math.min(length * 4, LARGEST_PIECE)
  }
}

async function missing(bucket: S3Bucket, key: string): Promise<UserError> {
  const start = key === '' ? '' : `${key}/`
  const [newest] = backupNames((await keysIn(bucket, `${start}${NAME_START}`)).map((each) => each.slice(start.length)))
  const name = `s3://${bucket.name}/${key}`
  return newest
    ? new UserError(
        `${name} holds several backups: name one of them. The newest is s3://${bucket.name}/${start}${newest}.`,
      )
    : new UserError(`There is no ${name} at ${bucket.endpoint}: correct its name.`)
}

/** Every page of a list of the bucket. */
async function* pagesOf(bucket: S3Bucket, query: Marks, next: Next): AsyncGenerator<string> {
  let more: Marks | undefined = {}
  while (more) {
    const { bytes } = await bucket.ask({ method: 'GET', query: { ...query, ...more } })
    const page = Buffer.from(bytes).toString()
    yield page
    more = valueIn(page, 'IsTruncated') === 'true' ? next(page) : undefined
  }
}
type Marks = NonNullable<S3Request['query']>
type Next = (page: string) => Marks

async function keysIn(bucket: S3Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = []
  const next = (page: string) => ({ 'continuation-token': valueIn(page, 'NextContinuationToken') ?? '' })
  for await (const page of pagesOf(bucket, { 'list-type': '2', prefix }, next)) {
    keys.push(...elementsIn(page, 'Contents').map((entry) => valueIn(entry, 'Key') ?? ''))
  }
  return keys
}

/** A command that was killed leaves parts that cost money and appear in no list of files. */
async function abortOld(bucket: S3Bucket, start: string, now: Date): Promise<void> {
  const next = (page: string) => ({
    'key-marker': valueIn(page, 'NextKeyMarker') ?? '',
    'upload-id-marker': valueIn(page, 'NextUploadIdMarker') ?? '',
  })
  for await (const page of pagesOf(bucket, { uploads: '', prefix: `${start}${NAME_START}` }, next)) {
    for (const entry of elementsIn(page, 'Upload')) {
      const [key = '', uploadId = '', since = ''] = ['Key', 'UploadId', 'Initiated'].map((name) => valueIn(entry, name))
      const isOld = new Date(since).getTime() < now.getTime() - DAY_MS
      if (isOld && momentOf(key.slice(start.length))) {
        await bucket.ask({ method: 'DELETE', key, query: { uploadId }, expected: [404] })
      }
    }
  }
}
