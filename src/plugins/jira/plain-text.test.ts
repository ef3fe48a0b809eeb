import { expect, it } from 'vitest'
import { plainText } from './plain-text.ts'

const paragraph = (...content: object[]) => ({ type: 'paragraph', content })
const words = (text: string) => ({ type: 'text', text })

it('leaves text as it is, and takes nothing for empty', () => {
  expect(plainText(' as it is\n\nhere ')).toBe(' as it is\n\nhere ')
  expect(plainText(null)).toBe('')
  expect(plainText(undefined)).toBe('')
})

const item = (...content: object[]) => ({ type: 'listItem', content })
const doc = (...content: object[]) => ({ type: 'doc', version: 1, content })

it('writes one line a block of a document, and lists as people write them', () => {
  const document = doc(
    { type: 'heading', attrs: { level: 1 }, content: [words('Steps')] },
    {
      type: 'bulletList',
      content: [
        item(paragraph(words('open '), { ...words('it'), marks: [{ type: 'strong' }] })),
        item(paragraph(words('ask '), { type: 'mention', attrs: { id: '5e', text: '@Ann' } }), {
          type: 'orderedList',
          attrs: { order: 3 },
          content: [item(paragraph(words('one')), paragraph(words('more of it'))), item(paragraph(words('two')))],
        }),
      ],
    },
    paragraph(words('see'), { type: 'hardBreak' }, { type: 'inlineCard', attrs: { url: 'https://example.org/1' } }),
    paragraph(),
    paragraph(words('by '), { type: 'date', attrs: { timestamp: '1709251200000' } }),
  )
  expect(plainText(document)).toBe(
    [
      'Steps',
      '- open it',
      '- ask @Ann',
      '  3. one',
      '     more of it',
      '  4. two',
      'see',
      'https://example.org/1',
      'by 2024-03-01',
    ].join('\n'),
  )
})

it('keeps code as it is, and marks quotes, cells and tasks', () => {
  const cell = (text: string) => ({ type: 'tableCell', content: [paragraph(words(text)), paragraph(words('too'))] })
  const document = doc(
    { type: 'codeBlock', attrs: { language: 'js' }, content: [words('  if (x) {\n\n    y()\n  }')] },
    { type: 'blockquote', content: [paragraph(words('said')), paragraph(words('so'))] },
    { type: 'table', content: [{ type: 'tableRow', content: [cell('a'), cell('b')] }] },
    { type: 'rule' },
    {
      type: 'taskList',
      content: [
        { type: 'taskItem', attrs: { state: 'DONE' }, content: [words('done')] },
        { type: 'taskItem', attrs: { state: 'TODO' }, content: [words('to do')] },
      ],
    },
    { type: 'panel', content: [paragraph(words('note'))] },
    { type: 'expand', attrs: { title: 'More' }, content: [paragraph(words('inside'))] },
    { type: 'mediaSingle', content: [{ type: 'media', attrs: { id: 'x', type: 'file' } }] },
  )
  expect(plainText(document)).toBe(
    [
      '  if (x) {',
      '',
      '    y()',
      '  }',
      '> said',
      '> so',
      'a too | b too',
      '---',
      '- [x] done',
      '- [ ] to do',
      'note',
      'More',
      'inside',
    ].join('\n'),
  )
})
