import { expect, it } from 'vitest'
import { createLog, keepSecret, redact } from './log.ts'

function written(log: (logger: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = []
  log(createLog('info', { write: (line: string) => lines.push(line) }))
  return lines.join('')
}

it('hides secrets at any depth, in messages, and in text within text', () => {
  const text = written((log) => {
    log.info(
      { connection: { endpoint: 'https://api.example', options: { token: 'abc"123', apiKey: 'k-1' } } },
      'testing',
    )
    log.info({ headers: { Authorization: 'Bearer aaaa.bbbb.cccc', 'PRIVATE-TOKEN': 'glpat-zzz' } })
    log.info('connecting to scheme://weir:pa55word@db.example:5432/lake')
    log.info({ body: JSON.stringify({ user: 'ada', password: 'hunter22' }) })
    log.info({ body: JSON.stringify({ secretKey: 'in"inner' }) })
    log.info('GET https://x.example/a?access_token=qqqq&page=2 with Basic dXNlcjpwYXNz')
    log.error(new Error('refused: token ghp_0123456789abcdef'))
  })
  for (const secret of [
    'abc',
    'k-1',
    'aaaa.bbbb',
    'glpat',
    'pa55word',
    'hunter22',
    'qqqq',
    'dXNlcjpw',
    'ghp_0123',
    '"123',
    'inner',
  ]) {
    expect(text).not.toContain(secret)
  }
  for (const harmless of ['api.example', 'weir:', 'db.example:5432/lake', 'ada', 'page=2', 'refused']) {
    expect(text).toContain(harmless)
  }
  for (const line of text.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
})

it('hides values that it was told about, however they are written', () => {
  keepSecret('s3cret/with "quotes"')
  expect(redact('plain s3cret/with "quotes" here')).toBe('plain [redacted] here')
  expect(redact(`json ${JSON.stringify('s3cret/with "quotes"')}`)).toBe('json "[redacted]"')
  expect(redact(`url ${encodeURIComponent('s3cret/with "quotes"')}`)).toBe('url [redacted]')
})

it('leaves ordinary text alone', () => {
  const text = '{"level":30,"msg":"collected 12 issues of https://jira.example:8443/board/1, tokens 3"}'
  expect(redact(text)).toBe(text)
})

it.each([
  ['https://ghp-alone@host/x.git', 'https://[redacted]@host/x.git'],
  ['https://some-token:x-oauth-basic@host/x', 'https://[redacted]:[redacted]@host/x'],
  ['https://git:a@b:c@host/x', 'https://git:[redacted]@host/x'],
  ['ssh://git@host/x', 'ssh://git@host/x'],
  [
    'fatal: https://h/x?a=1&private_token=abc&b=2 is gone',
    'fatal: https://h/x?a=1&private_token=[redacted]&b=2 is gone',
  ],
  [
    'see "https://h/x?sig=abc#key=d", twice: http://u:p1@h',
    'see "https://h/x?sig=[redacted]#key=[redacted]", twice: http://u:[redacted]@h',
  ],
])('hides what addresses hold: %s', (text, clean) => {
  expect(redact(text)).toBe(clean)
})

it.each([
  'https://jira.example:8443/rest/user/me@home',
  'must look like mysql://user:password@host:3306/weir',
  'It usually is https://api.github.com/.',
  'Check the token settings, or use Basic authentication.',
  'http://127.0.0.1:8080/a?page=2&author=me@x',
  '{"authMethod":"AccessToken","tokenExpiresAt":"2026-01-01","author":"ada"}',
])('leaves %s alone', (text) => {
  expect(redact(text)).toBe(text)
})

it('takes time in proportion to the text', () => {
  const long = 200_000
  for (const piece of ['a', 'token', '"token', 'a://', '://', '\\"token\\":', '@', 'x?token=', '"a":"\\', 'token ']) {
    const start = performance.now()
    redact(`"${piece.repeat(long / piece.length)}`)
    expect(performance.now() - start, piece).toBeLessThan(1000)
  }
})

it('is written for people where they ask for it, without secrets', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) }, 'text')
  log.warn({ pipeline: 7, token: 'a-token-in-a-field' }, 'slow')
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT\S+Z WARN {2}slow pipeline=7 token="\[redacted\]"\n$/)
})
