import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { requirePlace, writeUserFile, writeUserFolder, writeUserText } from './user-file.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'weir-user-file-'))

it('writes a new file, and replaces one only if told', async () => {
  const file = join(folder(), 'weir.yaml')
  await writeUserText(file, 'one')
  await expect(writeUserText(file, 'two')).rejects.toThrow(
    `${file} exists already: choose another name, or use --force`,
  )
  expect(readFileSync(file, 'utf8')).toBe('one')
  await writeUserText(file, 'three', { force: true })
  expect(readFileSync(file, 'utf8')).toBe('three')
})

it('refuses a folder, and a place that does not exist', async () => {
  const place = folder()
  await expect(requirePlace(place, { force: true })).rejects.toThrow(`${place} is a folder: name a new file in it`)
  await expect(requirePlace(join(place, 'no', 'such'))).rejects.toThrow(
    `There is no folder ${join(place, 'no')}: create it first, or choose another place.`,
  )
  await expect(requirePlace('-')).rejects.toThrow('This is not written to standard output (-)')
  await expect(writeUserFolder('-', new Map())).rejects.toThrow('This is not written to standard output (-)')
  expect(readdirSync(place)).toEqual([])
})

it('leaves nothing of a file whose writing failed, and keeps the one that was there', async () => {
  const file = join(folder(), 'audit.jsonl')
  writeFileSync(file, 'old')
  const failing = writeUserFile(
    file,
    async (draft) => {
      await writeFile(draft, 'half')
      throw new Error('the database is gone')
    },
    { force: true },
  )
  await expect(failing).rejects.toThrow('the database is gone')
  expect(readFileSync(file, 'utf8')).toBe('old')
  expect(existsSync(`${file}.part`)).toBe(false)
})

it('keeps a private file to its owner, and writes through links and into pipes', async () => {
  const place = folder()
  const file = join(place, 'private')
  await writeUserText(file, 'secret', { isPrivate: true })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  symlinkSync(file, join(place, 'link'))
  await writeUserText(join(place, 'link'), 'through', { force: true })
  expect(readFileSync(file, 'utf8')).toBe('through')
  await writeUserText('/dev/null', 'anything')
})

it('writes a folder whole or not at all; what is the same already is no obstacle', async () => {
  const place = join(folder(), 'out')
  const texts = new Map([
    ['a/one.json', '1'],
    ['two.json', '2'],
  ])
  await writeUserFolder(place, texts)
  await writeUserFolder(place, texts)
  await expect(writeUserFolder(place, new Map([...texts, ['new.json', 'x'], ['two.json', 'other']]))).rejects.toThrow(
    `${join(place, 'two.json')} exists already, with other content. Choose another folder, or use --force`,
  )
  expect(readdirSync(place).sort()).toEqual(['a', 'two.json'])
  await writeUserFolder(place, new Map([['two.json', 'other']]), { force: true })
  expect(readFileSync(join(place, 'two.json'), 'utf8')).toBe('other')
  await expect(writeUserFolder(join(place, 'two.json'), texts)).rejects.toThrow('is a file: name a folder')
})
