import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import { clear, collect, freshData, REPO, stored } from './support/collect.ts'
import { makeRepository, type Repository, toldBy } from './support/repository.ts'

function smallRepository(commits = 5): Repository {
  const repository = makeRepository()
  for (let number = 1; number <= commits; number++) {
    repository.write('file.txt', `${Array.from({ length: number }, (_, line) => `line ${line}`).join('\n')}\n`)
    repository.commit(`commit ${number}`)
  }
  return repository
}

/** Returns the folder of the only clone. */
function cloneIn(data: string): string {
  const [home = ''] = readdirSync(join(data, 'git')).filter((name) => name !== 'known_hosts')
  return join(data, 'git', home, 'clone.git')
}

const shas = (rows: any[] | undefined, column = 'sha') => rows?.map((row) => row[column]).sort()

describeOneWithTables('runs of git history', (test) => {
  beforeEach(() => clear(test.database))
  const commitsRead = async (options: Record<string, unknown>, run = {}) => {
    let done = 0
    await collect(test.database, options, {
      ...run,
      only: ['Clone Git Repo'],
    })
    await collect(test.database, options, {
      ...run,
      only: ['Collect Commits'],
      progress: (progress) => {
        done = progress.done ?? done
      },
    })
    await collect(test.database, options, { ...run, only: ['Collect Branches', 'Collect Tags'] })
    return done
  }

  it('fetches and reads only what is new on later runs', async () => {
    const data = freshData()
    const repository = smallRepository()
    const options = { url: repository.folder }
    expect(await commitsRead(options)).toBe(5)
    const marker = join(cloneIn(data), 'still-the-same-clone')
    writeFileSync(marker, '')
    expect(await commitsRead(options)).toBe(0)
    repository.write('file.txt', 'other\n')
    repository.commit('sixth')
    repository.git(['checkout', '--quiet', '-b', 'side', 'HEAD~3'])
    repository.commit('seventh')
    expect(await commitsRead(options)).toBe(2)
    const { commits, refs } = await stored(test.database)
    expect(shas(commits)).toEqual([...toldBy(repository).keys()].sort())
    expect(refs?.map(({ name }) => name)).toEqual(['main', 'side'])
    expect(existsSync(marker)).toBe(true)
  })

  it.each([false, true])(
    'follows force-pushed and deleted refs; commits that were stored stay until a full sync (skipCommitStat: %s)',
    async (skipCommitStat) => {
      freshData()
      const repository = smallRepository()
      const { git, commit } = repository
      git(['checkout', '--quiet', '-b', 'gone'])
      const lost = commit('will vanish')
      git(['tag', 'gone-tag'])
      git(['checkout', '--quiet', 'main'])
      const options = { url: repository.folder, skipCommitStat }
      await collect(test.database, options)
      git(['branch', '-D', '--quiet', 'gone'])
      git(['tag', '-d', 'gone-tag'])
      git(['reset', '--quiet', '--hard', 'HEAD~2'])
      const rewritten = commit('rewritten')
      git(['branch', 'gone/deeper'])
      await collect(test.database, options)
      const after = await stored(test.database)
      expect(after.refs?.map(({ name, commit_sha }) => [name, commit_sha])).toEqual([
        ['gone/deeper', rewritten],
        ['main', rewritten],
      ])
      expect(shas(after.commits)).toEqual(expect.arrayContaining([lost, rewritten]))
      await collect(test.database, options, { fullSync: true })
      const replaced = await stored(test.database)
      expect(shas(replaced.commits)).toEqual([...toldBy(repository).keys()].sort())
      expect(shas(replaced.repo_commits, 'commit_sha')).toEqual(shas(replaced.commits))
      expect(replaced.commit_parents).toHaveLength(replaced.commits!.length - 1)
    },
  )

  it('leaves what a fork still holds when the other repository no longer does', async () => {
    freshData()
    const repository = smallRepository()
    const fork = makeRepository()
    fork.git(['fetch', '--quiet', repository.folder, 'main:kept'])
    const withFiles = { skipCommitFiles: false }
    await collect(test.database, { url: fork.folder, repoId: 'fork', ...withFiles })
    await collect(test.database, { url: repository.folder, ...withFiles })
    const all = [...toldBy(repository).keys()].sort()
    repository.git(['reset', '--quiet', '--hard', 'HEAD~3'])
    await collect(test.database, { url: repository.folder, ...withFiles }, { fullSync: true })
    const { commits, repo_commits, commit_parents, commit_files, commit_file_components } = await stored(test.database)
    expect(commit_files).toHaveLength(all.length)
    expect(commit_file_components).toHaveLength(all.length)
    expect(shas(commits)).toEqual(all)
    expect(commit_parents).toHaveLength(all.length - 1)
    expect(repo_commits?.filter(({ repo_id }) => repo_id === REPO)).toHaveLength(2)
    expect(repo_commits?.filter(({ repo_id }) => repo_id === 'fork')).toHaveLength(5)
  })

  it('reads everything again when what is wanted has changed', async () => {
    freshData()
    const repository = smallRepository()
    const options = { url: repository.folder }
    expect(await commitsRead({ ...options, skipCommitStat: true })).toBe(5)
    expect((await stored(test.database)).commits?.every(({ additions }) => additions === 0)).toBe(true)
    expect(await commitsRead({ ...options, skipCommitFiles: false })).toBe(5)
    const { commits, commit_files } = await stored(test.database)
    expect(commits?.reduce((sum, { additions }) => sum + additions, 0)).toBe(5)
    expect(commit_files).toHaveLength(5)
    expect(await commitsRead(options)).toBe(5)
    expect((await stored(test.database)).commit_files).toEqual([])
    await test.database.kysely.deleteFrom('repo_commits').execute()
    expect(await commitsRead(options)).toBe(5)
  })

  it('collects from timeAfter on, by a shallow clone, with the same counts', async () => {
    const data = freshData()
    const repository = makeRepository()
    const start = Date.parse('2024-01-01T00:00:00Z') / 1000
    for (let day = 0; day < 20; day++) {
      repository.write(`file-${day % 3}.txt`, `${'x\n'.repeat(day + 1)}`)
      repository.commit(`day ${day}`, start + day * 86_400)
      if (day === 3) repository.git(['branch', 'old'])
    }
    const timeAfter = new Date('2024-01-11T00:00:00Z')
    const options = { url: `file://${repository.folder}` }
    await collect(test.database, options, { timeAfter })
    const told = toldBy(repository, '--since=2024-01-10T23:59:59Z', 'main')
    expect(told.size).toBe(10)
    const check = async () => {
      const { commits } = await stored(test.database)
      expect(commits?.map(({ sha, additions, deletions }) => ({ sha, additions, deletions }))).toEqual(
        [...told]
          .map(([sha, { additions, deletions }]) => ({ sha, additions, deletions }))
          .sort((one, other) => (one.sha < other.sha ? -1 : 1)),
      )
    }
    await check()
    expect(existsSync(join(cloneIn(data), 'shallow'))).toBe(true)
    expect((await stored(test.database)).refs?.map(({ name }) => name)).toEqual(['main', 'old'])

    await collect(test.database, { ...options, noShallowClone: true }, { timeAfter, fullSync: true })
    await check()
    expect(existsSync(join(cloneIn(data), 'shallow'))).toBe(false)

    freshData()
    await collect(test.database, options, { timeAfter: new Date('2030-01-01'), fullSync: true })
    expect((await stored(test.database)).commits).toEqual([])
    repository.commit('later', Date.parse('2030-06-01') / 1000)
    await collect(test.database, options, { timeAfter: new Date('2030-01-01') })
    expect((await stored(test.database)).commits?.map(({ message }) => message)).toEqual(['later'])
    await collect(test.database, options)
    expect((await stored(test.database)).commits).toHaveLength(21)
  })

  it('makes a damaged or half clone again', async () => {
    const data = freshData()
    const repository = smallRepository(30)
    const options = { url: `file://${repository.folder}`, skipCommitFiles: false }
    await collect(test.database, options)
    const whole = await stored(test.database)
    const damages: ((clone: string) => void)[] = [
      (clone) => rmSync(join(clone, 'weir.json')),
      (clone) => rmSync(join(clone, 'objects'), { recursive: true }),
      (clone) => rmSync(join(clone, 'HEAD')),
      (clone) => {
        const packs = join(clone, 'objects/pack')
        for (const name of readdirSync(packs).filter((each) => each.endsWith('.pack'))) {
          const path = join(packs, name)
          truncateSync(path, Math.floor(readFileSync(path).length / 2))
        }
      },
      (clone) => writeFileSync(join(clone, 'packed-refs.lock'), ''),
      (clone) => writeFileSync(join(clone, 'shallow.lock'), ''),
    ]
    for (const damage of damages) {
      damage(cloneIn(data))
      repository.commit('one more')
      await collect(test.database, options, { fullSync: true })
      const { commits } = await stored(test.database)
      expect(shas(commits)).toEqual([...toldBy(repository).keys()].sort())
    }
    expect(whole.commits).toHaveLength(30)
    expect(readdirSync(join(cloneIn(data), '..'))).toEqual(['clone.git'])
  })

  it('has no rows for an empty repository, and removes refs when it became empty', async () => {
    freshData()
    const empty = makeRepository()
    await collect(test.database, { url: empty.folder })
    await collect(test.database, { url: `file://${empty.folder}` }, { timeAfter: new Date('2024-01-01') })
    expect(await stored(test.database)).toMatchObject({ commits: [], refs: [], repo_commits: [] })
    const repository = smallRepository(2)
    await collect(test.database, { url: repository.folder })
    expect((await stored(test.database)).refs).toHaveLength(1)
    await collect(test.database, { url: empty.folder })
    const { refs, commits } = await stored(test.database)
    expect(refs).toEqual([])
    expect(commits).toHaveLength(2)
  })

  it.each([false, true])(
    'gives the same result when it is killed again and again (skipCommitStat: %s)',
    async (skipCommitStat) => {
      const data = freshData()
      const repository = makeRepository()
      for (let number = 0; number < 40; number++) {
        repository.write(`file-${number % 7}.txt`, `${number}\n`.repeat(number + 1))
        repository.commit(`commit ${number}`)
      }
      const url = `file://${repository.folder}`
      const target = join(import.meta.dirname, 'support/kill-target.ts')
      const options = JSON.stringify({ url, repoId: REPO, skipCommitStat, skipCommitFiles: false })
      // Each child is killed at a later point of the work, by the steps that it has reported, until one completes.
      let kills = 0
      for (let step = 1; ; step += 2) {
        const child = startProgram(target, [test.url, options, String(step)], {
          env: { ...process.env, DATA_FOLDER: data },
          stdio: 'inherit',
        })
        const [code, signal] = await once(child, 'close')
        if (signal === 'SIGKILL') kills++
        else {
          expect(code).toBe(0)
          break
        }
      }
      expect(kills).toBeGreaterThan(5)
      const { commits, commit_files, commit_parents, refs } = await stored(test.database)
      const told = toldBy(repository)
      expect(shas(commits)).toEqual([...told.keys()].sort())
      if (!skipCommitStat) {
        for (const { sha, additions } of commits ?? []) expect(additions).toBe(told.get(sha)?.additions)
        expect(commit_files).toHaveLength([...told.values()].reduce((sum, { files }) => sum + files, 0))
      }
      expect(commit_parents).toHaveLength(39)
      expect(refs).toHaveLength(1)
      expect(readdirSync(join(cloneIn(data), '..'))).toEqual(['clone.git'])
    },
    600_000,
  )
})
