import { describe, expect, test } from 'vitest'
import { createSecrets, hasMask, isMask, maskSecret, maskSecrets, unmaskSecret } from './secrets.ts'

const KEY = 'a key that is only used in tests'

describe('encryption', () => {
  const secrets = createSecrets(KEY)
  test('long text is compressed, and comes back whole', () => {
    const long = JSON.stringify(
      Array.from({ length: 5000 }, (_, id) => ({ table: 'repos', rowId: `github:GithubRepo:1:${id}` })),
    )
    const sealed = secrets.encrypt(long)
    expect(sealed.length).toBeLessThan(long.length / 3)
    expect(secrets.decrypt(sealed)).toBe(long)
    expect(() => createSecrets(`${KEY}!`).decrypt(sealed)).toThrow('ENCRYPTION_SECRET')
  })
  test('gives back what went in, and looks different each time', () => {
    const texts = ['', 'ghp_abc', 'ünï©ødé 🔑', 'x'.repeat(10_000)]
    for (const text of texts) {
      const [one, other] = [secrets.encrypt(text), secrets.encrypt(text)]
      expect(one).not.toBe(other)
      if (text) expect(one).not.toContain(text)
      expect([secrets.decrypt(one), secrets.decrypt(other)]).toEqual([text, text])
    }
  })
  test('refuses what was changed or made with another key, and says what to do', () => {
    const sealed = secrets.encrypt('token')
    const bytes = Buffer.from(sealed.slice(6), 'base64')
    for (const position of [0, 12, 28, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[position] = (changed[position] ?? 0) ^ 1
      expect(() => secrets.decrypt(`weir1:${changed.toString('base64')}`)).toThrow('ENCRYPTION_SECRET')
    }
    expect(() => createSecrets(`${KEY}!`).decrypt(sealed)).toThrow('ENCRYPTION_SECRET')
  })
  test('leaves alone what was never encrypted', () => {
    expect(secrets.decrypt('https://example.com')).toBe('https://example.com')
  })
  test('digests depend on the key', () => {
    expect(secrets.digest('a')).toBe(createSecrets(KEY).digest('a'))
    expect(secrets.digest('a')).not.toBe(createSecrets(`${KEY}!`).digest('a'))
    // API keys stay valid when the encryption key is replaced.
    expect(createSecrets(`${KEY}!`, secrets.digestKey).digest('a')).toBe(secrets.digest('a'))
  })
})

describe('masks', () => {
  const token = `ghp_${'abcdefgh'}${'S'.repeat(20)}${'12345678'}`
  const fine = `github_pat_${'abcdefgh'}${'S'.repeat(66)}${'tail1234'}`
  test('show as much as DevLake does', () => {
    expect(maskSecret('ab')).toBe('**')
    expect(maskSecret('abcde')).toBe('a***e')
    expect(maskSecret('abcdefgh')).toBe('ab****gh')
    expect(maskSecret(token)).toBe(`ghp_abcdefgh${'*'.repeat(20)}12345678`)
    expect(maskSecret(fine)).toBe(`github_pat_abcdefgh${'*'.repeat(66)}tail1234`)
    expect(maskSecret(`${token},abcdefgh`)).toBe(`ghp_abcdefgh${'*'.repeat(20)}12345678,ab****gh`)
    const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIEsecret\nmore\n-----END RSA PRIVATE KEY-----\n'
    expect(maskSecret(pem)).toBe('-----BEGIN RSA PRIVATE KEY-----\n**********\n****\n-----END RSA PRIVATE KEY-----\n')
  })
  test('that come back stand for what is stored', () => {
    expect(unmaskSecret('', token)).toBe(token)
    expect(unmaskSecret(maskSecret(token), token)).toBe(token)
    expect(unmaskSecret(`new-token-1,${maskSecret(fine)}`, `${token},${fine}`)).toBe(`new-token-1,${fine}`)
    expect(unmaskSecret('other', token)).toBe('other')
  })
  test('are known for what they are', () => {
    for (const text of ['ab', 'abcde', 'abcdefgh', token, fine, `${token},abcdefgh`]) {
      expect([isMask(text), isMask(maskSecret(text)), isMask(`new,${maskSecret(text)}`)]).toEqual([false, true, true])
    }
    expect([isMask(''), isMask('a*b*c'), isMask('pass*word***')]).toEqual([false, false, false])
    expect([hasMask('http://u:***@h'), hasMask('https://***@h'), hasMask('http://u:p*@h')]).toEqual([true, true, false])
  })
  test('hide what users put into plans, however deep', () => {
    const options = {
      password: 'pass-word',
      accessToken: 'abc',
      secretKey: 12345678,
      tokenExpiresAt: 'tomorrow',
      headers: { Authorization: 'Bearer 1234', list: [{ apiKey: 'abcdefgh' }] },
      credentials: { user: 'somebody', value: 'abcdefgh' },
      text: '-----BEGIN KEY-----\nabc\n-----END KEY-----',
    }
    const shown = maskSecrets([[{ options }]])
    expect(shown[0]?.[0]?.options).toEqual({
      password: 'pa*****rd',
      accessToken: 'a*c',
      secretKey: '12****78',
      tokenExpiresAt: 'tomorrow',
      headers: { Authorization: 'Be*******34', list: [{ apiKey: 'ab****gh' }] },
      credentials: { user: 'so****dy', value: 'ab****gh' },
      text: '-----BEGIN KEY-----\n***\n-----END KEY-----',
    })
    expect(maskSecrets(shown)).toEqual(shown)
  })
  test('hide passwords of addresses anywhere in JSON', () => {
    const plan = [
      [
        {
          options: {
            url: 'https://git:s3cret@example.com/x.git',
            list: ['http://u:p@h', 'https://h/?token=t'],
            n: 1,
            none: null,
          },
        },
      ],
    ]
    expect(maskSecrets(plan)).toEqual([
      [
        {
          options: {
            url: 'https://git:******@example.com/x.git',
            list: ['http://u:*@h', 'https://h/?token=*'],
            n: 1,
            none: null,
          },
        },
      ],
    ])
  })
})
