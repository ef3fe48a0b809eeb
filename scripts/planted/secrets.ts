import type { Plot } from './plot.ts'

export const secrets: readonly Plot[] = [
  {
    file: 'src/log.ts',
    tests: ['src/log.test.ts'],
    defects: [
      ['for (const secret of secrets) clean = clean.replaceAll(secret, HIDDEN)', ''],
      ['isSecretName(name) ? start + HIDDEN : all', 'isSecretName(name) ? all : all'],
      ['  return clean.replace(SIGNED, `$1 ${HIDDEN}`)', '  return clean'],
      ['.add(encodeURIComponent(value))', ''],
    ],
  },
  {
    file: 'src/secrets/secrets.ts',
    tests: ['src/secrets/secrets.test.ts'],
    defects: [
      ["sent === '' || sent === maskSecret(stored)", 'sent === maskSecret(stored)'],
      ["part.includes('*') ? (known.get(part) ?? part) : part", 'part'],
      ["part.includes('*') && part === maskPart(part)", "part.includes('*')"],
      ["begin + body.replace(/\\S/g, '*') + end", 'begin + body + end'],
      ['if (prefix === undefined) return stored', ''],
      ['isLong ? COMPRESSED : PLAIN', 'PLAIN'],
      ["createSecretKey(digestText, 'hex')", 'cipherKey'],
      [
        'text.slice(start, text.length - end)) + text.slice(text.length - end)',
        'text.slice(start)) + text.slice(text.length - end)',
      ],
      ['isSecret || isSecretName(key))])', 'isSecretName(key))])'],
      ['[/^gh[pousr]_.{32,}$/, 12, 8]', '[/^gh[pousr]_.{32,}$/, 12, 12]'],
    ],
  },
]
