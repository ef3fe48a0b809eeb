import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'

export interface FakeDns {
  readonly address: string
  /** Host name to IPv4 address. */
  readonly records: Map<string, string>
  /** The host names that were looked up, in order. */
  readonly asked: string[]
  close(): void
}

/** A name server for A records, over real UDP. */
export async function startFakeDns(): Promise<FakeDns> {
  const records = new Map<string, string>()
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, peer) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.subarray(at + 1, at + 1 + length).toString())
      at += length + 1
    }
    const question = query.subarray(12, at + 5)
    const isA = query.readUInt16BE(at + 1) === 1
    if (isA) asked.push(labels.join('.').toLowerCase())
    const address = isA ? records.get(labels.join('.').toLowerCase()) : undefined
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8180, 2)
    header.writeUInt16BE(address === undefined ? 0 : 1, 6)
    header.writeUInt16BE(0, 8)
    header.writeUInt16BE(0, 10)
    const answer =
      address === undefined
        ? Buffer.alloc(0)
        : Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)])
    socket.send(Buffer.concat([header, question, answer]), peer.port, peer.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, records, asked, close: () => socket.close() }
}
