/** Archives in the format of every tar program (POSIX ustar): a header block, the content padded to blocks, and two empty blocks at the end. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'

const BLOCK = 512
const paddingOf = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

/**
 * Compressed in separate threads, and read as it is sent, because an archive may be larger than memory. An error on the way
 * ends the answer, and its reader sees that.
 */
export const packed = (entries: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  pipeline(Readable.from(withEnd(entries)), createGzip(), () => {})

async function* withEnd(entries: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* entries
  yield Buffer.alloc(2 * BLOCK)
}

/** If the file grows meanwhile, only the size in its header is read; a file that was deleted is left out. */
export async function* tarFile(path: string, name: string): AsyncGenerator<Uint8Array> {
  const found = await stat(path).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  })
  if (!found) return
  const { size, mtimeMs } = found
  yield tarHeader(name, size, mtimeMs)
  if (size > 0) yield* createReadStream(path, { end: size - 1 })
  yield paddingOf(size)
}

export function* tarText(name: string, content: Buffer): Generator<Uint8Array> {
  yield tarHeader(name, content.length, Date.now())
  yield content
  yield paddingOf(content.length)
}

function tarHeader(name: string, size: number, modifiedMs: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => `${Math.floor(value).toString(8).padStart(digits, '0')}\0`
  const fields: readonly [offset: number, text: string][] = [
    [0, name.slice(0, 99)],
    [100, octal(0o644, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(size, 11)],
    [136, octal(modifiedMs / 1000, 11)],
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\u000000'],
  ]
  for (const [offset, text] of fields) header.write(text, offset, 'latin1')
  const checksum = header.reduce((sum, byte) => sum + byte, 0)
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}
