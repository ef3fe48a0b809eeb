import { generateKeyPairSync, sign } from 'node:crypto'

/** Makes a certificate for 127.0.0.1 at run time, so that no key has to be stored in the repository. */
export function createCertificate(): { key: string; certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(objectId('2a8648ce3d040302')) // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from('127.0.0.1')))))
  const time = (text: string) => der(0x18, Buffer.from(text))
  const addresses = sequence(der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = sequence(sequence(objectId('551d11'), der(0x04, addresses))) // subjectAltName
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  }
}

/** One ASN.1 value in DER: tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts))
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
