/** Addresses that Weir must refuse. All but `[fe80::1]` are spellings of the address at which clouds give credentials to their machines. */
const SPELLINGS = [
  'http://169.254.169.254',
  'http://169.254.169.254.', // with the dot of the root zone
  'http://0251.0376.0251.0376', // octal
  'http://2852039166', // decimal
  'http://0xa9fea9fe',
  'http://0xa9.254.0251.254',
  'http://169.254.43518', // the last number fills the remaining bytes
  'http://[::ffff:169.254.169.254]', // IPv4-mapped
  'http://[::ffff:a9fe:a9fe]',
  'http://[0:0:0:0:0:FFFF:A9FE:A9FE]',
  'http://[::ffff:0:169.254.169.254]', // IPv4-translated
  'http://[64:ff9b::169.254.169.254]', // NAT64
  'http://[2002:a9fe:a9fe::]', // 6to4
  'http://[fe80::1]', // link-local
  'http://１６９.254.169.254', // full-width digits
]
const NO_ADDRESS = /not an address|must be an address that begins with/
export const CLOSED: readonly (readonly [address: string, says: RegExp])[] = [
  ...SPELLINGS.map((address) => [`${address}/`, /blocked address/] as const),
  // No address on the web has a zone id.
  ['http://[fe80::1%25eth0]/', NO_ADDRESS],
  ['http://[::ffff:169.254.169.254%25lo]/', NO_ADDRESS],
]
