import { expect, it } from 'vitest'
import { plainText } from './plain-text.ts'

const paragraph = (...content: object[]) => ({ type: 'paragraph', content })
const words = (text: string) => ({ type: 'text', text })

it('leaves text as it is, and takes nothing for empty', () => {
  expect(plainText(' as it is\n\nhere ')).toBe(' as it is\n\nhere ')
  expect(plainText(null)).toBe('')
  expect(plainText(undefined)).toBe('')
})

it('writes one line a block of a document', () => {
  const document = {
    type: 'doc',
    version: 1,
    content: [
      { type: 'heading', attrs: { level: 1 }, content: [words('Steps')] },
      {
        type: 'bulletList',
        content: [
          { type: 'listItem', content: [paragraph(words('open '), { ...words('it'), marks: [{ type: 'strong' }] })] },
          {
            type: 'listItem',
            content: [paragraph(words('ask '), { type: 'mention', attrs: { id: '5e', text: '@Ann' } })],
          },
        ],
      },
      paragraph(words('see'), { type: 'hardBreak' }, { type: 'inlineCard', attrs: { url: 'https://example.org/1' } }),
      paragraph(),
    ],
  }
  expect(plainText(document)).toBe('Steps\nopen it\nask @Ann\nsee\nhttps://example.org/1')
})
