import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { components } from '../../src/domain/code.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { clear, collect, freshData, REPO, stored } from './support/collect.ts'
import { makeRepository, type Repository, toldBy } from './support/repository.ts'

/** Makes a repository with renames, merges, an octopus, a submodule, odd names, encodings and dates, and empty and huge messages. */
function oddRepository(folder: string): Repository {
  const repository = makeRepository(folder)
  const { git, write: put, commit, commitRaw } = repository
  put('readme.md', 'one\ntwo\nthree\n')
  put('src/main.ts', Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join(''))
  const root = commit('first\n\nwith a body\n\nand another paragraph')
  put('src/main.ts', Array.from({ length: 40 }, (_, index) => `line ${index === 7 ? 'x' : index}\n`).join(''))
  put('with\ttab.txt', 'tab\n')
  put('with\nnewline.txt', 'newline\n1\t2\tnot a count\n')
  put('ünï "quoted" 日本.txt', 'unicode\n')
  put('picture.bin', Buffer.from([0, 1, 2, 0, 255]))
  commit('odd names')
  git(['mv', 'src/main.ts', 'src/renamed\tonce.ts'])
  put('package-lock.JSON', '{}\n{}\n')
  commit('rename')
  commit('')
  commit('nothing changed')
  // A path that is not UTF-8.
  const blob = git(['hash-object', '-w', '--stdin'], { input: 'latin\n' })
  git(['update-index', '-z', '--index-info'], {
    input: Buffer.concat([Buffer.from(`100644 ${blob}\t`), Buffer.from('caf\xe9.txt', 'latin1'), Buffer.from([0])]),
  })
  git(['update-index', '--add', '--cacheinfo', `160000,${root},module`])
  git(['commit', '--quiet', '-m', 'not UTF-8, and a submodule'])
  git(['reset', '--quiet', '--hard', 'HEAD'])

  for (const branch of ['one', 'two', 'three']) {
    git(['checkout', '--quiet', '-b', branch, 'main'])
    put(`${branch}.txt`, `${branch}\n`)
    commit(`on ${branch}`)
  }
  git(['checkout', '--quiet', 'main'])
  put('main.txt', 'main\n')
  commit('on main')
  git(['merge', '--quiet', '--no-ff', '-m', 'octopus', 'one', 'two', 'three'])
  git(['tag', '-a', '-m', 'annotated', 'v1.0'])
  git(['tag', 'light', root])
  git(['tag', 'blob', blob])
  git(['checkout', '--quiet', '--orphan', 'island'])
  commit('another root')
  git(['branch', 'feature/deep/name'])

  const ident = (name: string, when: string) =>
    Buffer.from(`author ${name} <a@x> ${when}\ncommitter ${name} <a@x> ${when}`, 'latin1')
  commitRaw(
    Buffer.concat([ident('Ren\xe9', '1700000500 +0200'), Buffer.from('\nencoding ISO-8859-1')]),
    Buffer.from('d\xe9j\xe0 vu\n', 'latin1'),
  )
  commitRaw(ident('Jos\xe9', '1700000501 +0200'), Buffer.from('sans encodage: \xe9t\xe9\n', 'latin1'))
  commitRaw('author Early <e@x> -86400 +0000\ncommitter Early <e@x> -1 -1130', 'before 1970\n')
  commitRaw('author Late <l@x> 99999999999999 +0000\ncommitter Late <l@x> 1700000502 +9999', 'after 9999\n')
  commitRaw('author Nobody <> 1700000503 +0000\ncommitter Nobody <> 1700000503 +0000', 'no address\n')
  commitRaw('author garbled\ncommitter Fine <f@x> 1700000504 +0000', 'no author to speak of\n')
  commitRaw('author A <a@x> 1700000505 +0000\ncommitter A <a@x> 1700000505 +0000', `${'huge '.repeat(500_000)}\n`)
  commitRaw('author A <a@x> 1700000506 +0000\ncommitter A <a@x> 1700000506 +0000', '    indented\n\n\n\tand tabbed\n')
  commitRaw(
    'author A <a@x> 1700000506 +0000\ncommitter A <a@x> 1700000506 +0000',
    ' \n\nspaces at ends \t\r\nof lines\t\n\nand at the end \n\n',
  )
  // This encoding uses seven bits per byte, so it would be valid UTF-8.
  commitRaw(
    'author A <a@x> 1700000506 +0000\ncommitter A <a@x> 1700000506 +0000\nencoding ISO-2022-JP',
    '\x1b$B2<\x1b(B below\n',
  )
  commitRaw('author A <a@x> 1700000506 +0000\ncommitter A <a@x> 1700000506 +0000\nencoding none', 'in no encoding\n')
  const head = git(['rev-parse', 'HEAD'])
  commitRaw('author A <a@x> 1700000507 +0000\ncommitter A <a@x> 1700000507 +0000', 'same parent twice\n', [head, head])
  git(['checkout', '--quiet', 'main'])
  return repository
}

/** Returns the shape of the only clone in a data folder. */
function shapeIn(data: string): unknown {
  const [home = ''] = readdirSync(join(data, 'git'))
  return JSON.parse(readFileSync(join(data, 'git', home, 'clone.git/weir.json'), 'utf8'))
}

const folder = mkdtempSync(join(tmpdir(), 'weir-git-'))
let repository: Repository
beforeAll(() => {
  repository = oddRepository(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeOneWithTables('git history', (test) => {
  beforeEach(() => clear(test.database))

  it('equals what git log --numstat tells, whatever the repository holds', async () => {
    freshData()
    await collect(test.database, { url: repository.folder, skipCommitFiles: false })
    const { commits, commit_parents, repo_commits, commit_files } = await stored(test.database)
    const told = toldBy(repository)
    expect(commits?.map(({ sha }) => sha)).toEqual([...told.keys()].sort())
    expect(repo_commits?.map(({ commit_sha }) => commit_sha)).toEqual([...told.keys()].sort())
    for (const { sha, additions, deletions } of commits ?? []) {
      const parents = commit_parents?.filter((row) => row.commit_sha === sha).map((row) => row.parent_commit_sha)
      const files = commit_files?.filter((row) => row.commit_sha === sha) ?? []
      const expected = told.get(sha)
      expect({ sha, parents, additions, deletions, files: files.length }).toEqual({
        sha,
        ...expected,
        parents: [...new Set(expected?.parents)],
      })
      expect(files.reduce((sum, file) => sum + file.additions, 0)).toBe(additions)
    }
  })

  it('reads messages, people and dates of every kind', async () => {
    freshData()
    await collect(test.database, { url: repository.folder })
    const { commits, accounts, commit_files } = await stored(test.database)
    const byMessage = (start: string) => commits?.find(({ message }) => message.startsWith(start))
    expect(byMessage('first')?.message).toBe('first\n\nwith a body\n\nand another paragraph')
    expect(byMessage('déjà vu')).toMatchObject({ author_name: 'René', authored_date: new Date(1_700_000_500_000) })
    expect(byMessage('sans encodage')).toMatchObject({ author_name: 'José', message: 'sans encodage: été' })
    expect(byMessage('before 1970')).toMatchObject({
      authored_date: new Date('1969-12-31T00:00:00Z'),
      committed_date: new Date('1969-12-31T23:59:59Z'),
    })
    expect(byMessage('after 9999')?.authored_date.getUTCFullYear()).toBe(1)
    expect(byMessage('after 9999')?.committed_date).toEqual(new Date(1_700_000_502_000))
    expect(byMessage('no address')).toMatchObject({ author_id: '', author_email: '', author_name: 'Nobody' })
    expect(byMessage('no author')).toMatchObject({ author_name: 'garbled', author_id: '', committer_id: 'f@x' })
    expect(byMessage('huge')?.message.length).toBe(1_000_000)
    expect(byMessage('    indented')?.message).toBe('    indented\n\n\n\tand tabbed')
    expect(commits?.filter(({ message }) => message === '')).toHaveLength(1)
    expect(byMessage('on one')).toMatchObject({
      author_name: 'Ada',
      author_email: 'ada@example.com',
      author_id: 'ada@example.com',
      committer_id: 'carl@example.com',
      _raw_data_table: 'gitextractor',
      _raw_data_params: REPO,
    })
    expect(accounts?.map(({ id }) => id)).toEqual(['a@x', 'ada@example.com', 'carl@example.com', 'e@x', 'f@x', 'l@x'])
    expect(accounts?.[1]).toMatchObject({ email: 'ada@example.com', full_name: 'Ada', user_name: 'Ada' })
    expect(commit_files).toEqual([])
  })

  it('is the same whether git lists commits, walks them, or counts their lines', async () => {
    const data = freshData()
    const url = repository.folder
    await collect(test.database, { url, skipCommitStat: true })
    expect(shapeIn(data)).toMatchObject({ holdsOnlyCommits: true })
    const listed = await stored(test.database)
    expect(listed.commits?.map(({ sha }) => sha)).toEqual([...toldBy(repository).keys()].sort())
    const messages = listed.commits?.map(({ message }) => message)
    expect(messages).toContain('spaces at ends\nof lines\n\nand at the end')
    expect(messages).toContain('下 below')
    expect(messages).toContain('in no encoding')

    await clear(test.database)
    // A later fetch may leave commits that no ref leads to any more.
    await collect(test.database, { url, skipCommitStat: true })
    expect(shapeIn(data)).toMatchObject({ holdsOnlyCommits: false })
    expect(await stored(test.database)).toEqual(listed)

    await clear(test.database)
    await collect(test.database, { url })
    const counted = await stored(test.database)
    const uncounted = counted.commits?.map((row) => ({ ...row, additions: 0, deletions: 0 }))
    expect({ ...counted, commits: uncounted }).toEqual(listed)
  })

  it('walks the commits where the server cannot leave out files', async () => {
    const data = freshData()
    const full = makeRepository()
    full.write('one.txt', 'one\n')
    full.commit('one')
    full.git(['config', 'uploadpack.allowFilter', 'false'])
    await collect(test.database, { url: full.folder, skipCommitStat: true })
    expect(shapeIn(data)).toMatchObject({ holdsOnlyCommits: false })
    expect((await stored(test.database)).commits).toHaveLength(1)
  })

  it('is whole where commits that git lists go in several batches', async () => {
    freshData()
    const long = makeRepository()
    const names = ['Old', 'New']
    const commits = Array.from({ length: 25_000 }, (_, number) => {
      const name = names[Math.floor(number / 12_500)]
      return `commit refs/heads/main\ncommitter ${name} <carl@example.com> ${1_700_000_000 + number} +0000\ndata 1\nx\n`
    })
    long.git(['fast-import', '--quiet', '--force'], { input: commits.join('') })
    await collect(test.database, { url: long.folder, skipCommitStat: true })
    const found = await stored(test.database)
    const shas = long.git(['rev-list', 'main']).split('\n').sort()
    expect(found.commits?.map(({ sha }) => sha)).toEqual(shas)
    expect(found.repo_commits?.map(({ commit_sha }) => commit_sha)).toEqual(shas)
    expect(found.commit_parents).toHaveLength(24_999)
    expect(found.accounts).toMatchObject([{ id: 'carl@example.com', full_name: 'New' }])
  })

  it('stores a row for each changed file where they are wanted, with its component', async () => {
    freshData()
    await write(test.database, [
      components.row({ name: 'texts', repo_id: REPO, path_regex: '\\.txt$' }),
      components.row({ name: 'code', repo_id: REPO, path_regex: '^src/' }),
      components.row({ name: 'others', repo_id: 'elsewhere', path_regex: '.*' }),
    ])
    await collect(test.database, { url: repository.folder, skipCommitFiles: false, excludeFileExtensions: ['.json'] })
    const { commit_files, commit_file_components, commits } = await stored(test.database)
    const paths = new Map(commit_files?.map((row) => [row.file_path, row]))
    expect([...paths.keys()]).toEqual(
      expect.arrayContaining([
        'with\ttab.txt',
        'with\nnewline.txt',
        'ünï "quoted" 日本.txt',
        'src/renamed\tonce.ts',
        'café.txt',
        'module',
      ]),
    )
    expect(paths.has('package-lock.JSON')).toBe(false)
    const rename = commits?.find(({ message }) => message === 'rename')
    expect(rename).toMatchObject({ additions: 0, deletions: 0 })
    const latin = paths.get('café.txt')
    expect(latin?.id).toBe(
      `${latin?.commit_sha}:${createHash('sha256').update(Buffer.from('caf\xe9.txt', 'latin1')).digest('hex')}`,
    )
    const componentOf = (path: string) =>
      commit_file_components?.find((row) => row.commit_file_id === paths.get(path)?.id)?.component_name
    expect(componentOf('café.txt')).toBe('texts')
    expect(componentOf('src/renamed\tonce.ts')).toBe('code')
    expect(componentOf('module')).toBe('Default')
    expect(commit_file_components).toHaveLength(commit_files?.length ?? 0)
  })

  it('stores branches by short and tags by full name', async () => {
    freshData()
    const { git } = repository
    await collect(test.database, { url: repository.folder })
    const { refs } = await stored(test.database)
    const main = refs?.find(({ name }) => name === 'main')
    expect(main).toMatchObject({ id: `${REPO}:main`, repo_id: REPO, ref_type: 'BRANCH', is_default: true })
    expect(main?.commit_sha).toBe(git(['rev-parse', 'main']))
    expect(refs?.filter(({ is_default }) => is_default)).toHaveLength(1)
    expect(refs?.filter(({ ref_type }) => ref_type === 'BRANCH').map(({ name }) => name)).toEqual([
      'feature/deep/name',
      'island',
      'main',
      'one',
      'three',
      'two',
    ])
    const tags = refs?.filter(({ ref_type }) => ref_type === 'TAG')
    expect(tags?.map(({ name }) => name)).toEqual(['refs/tags/light', 'refs/tags/v1.0'])
    expect(tags?.[1]).toMatchObject({ id: `${REPO}:refs/tags/v1.0`, is_default: false })
    expect(tags?.[1]?.commit_sha).toBe(git(['rev-parse', 'v1.0^{commit}']))
    expect(tags?.[1]?.created_date).toBeInstanceOf(Date)
  })

  it('counts every line of a history that goes in several batches', async () => {
    freshData()
    const long = makeRepository()
    const lines = (number: number) =>
      `${Array.from({ length: 1 + (number % 7) }, (_, at) => `${at} ${number}`).join('\n')}\n`
    const data = (text: string) => `data ${text.length}\n${text}\n`
    const commits = Array.from({ length: 9000 }, (_, number) =>
      [
        `commit refs/heads/main\ncommitter Carl <carl@example.com> ${1_700_000_000 + number} +0000\n${data(`${number}`)}`,
        ...[0, 1, 2].map((file) => `M 100644 inline file-${(number * 3 + file) % 50}\n${data(lines(number + file))}`),
      ].join(''),
    )
    long.git(['fast-import', '--quiet', '--force'], { input: commits.join('') })
    await collect(test.database, { url: long.folder, skipCommitFiles: false })
    const found = await stored(test.database)
    const told = toldBy(long)
    expect(found.commits).toHaveLength(9000)
    for (const { sha, additions, deletions } of found.commits ?? []) {
      const expected = told.get(sha)
      if (additions !== expected?.additions || deletions !== expected?.deletions) {
        expect({ sha, additions, deletions }).toEqual({ sha, ...expected })
      }
    }
    expect(found.commit_files).toHaveLength([...told.values()].reduce((sum, { files }) => sum + files, 0))
    expect(found.repo_commits).toHaveLength(9000)
    expect(found.commit_parents).toHaveLength(8999)
  })
})
