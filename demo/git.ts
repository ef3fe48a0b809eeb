/** The repositories themselves, so that commits between two deployments can be found. */
import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Change, mergedChanges, type ServiceStory } from './happenings.ts'
import { BOTS, PEOPLE } from './organisation.ts'

const IDENTITIES = new Map<string, string>([
  ...PEOPLE.map(({ login, name, email }) => [login, `${name} <${email}>`] as const),
  ...BOTS.map((bot) => [bot, `${bot} <${bot}@users.noreply.github.com>`] as const),
])

/** A file's content or a message, as `git fast-import` reads it. */
const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`

/** Every change is squashed into one commit of the branch. */
function commitOf({ title, author, endedAt = 0, files }: Change, index: number): string {
  const who = `${IDENTITIES.get(author)} ${Math.floor(endedAt / 1000)} +0000`
  const written = Array.from(
    { length: Math.min(files, 4) },
    (_, file) => `M 100644 inline src/part-${(index + file * 7) % 40}.ts\n${data(`// ${title}\n// ${index}\n`)}`,
  )
  const names = `mark :${index + 1}\nauthor ${who}\ncommitter ${who}\n`
  return `commit refs/heads/main\n${names}${data(title)}${written.join('')}\n`
}

async function git(parameters: readonly string[], input = ''): Promise<void> {
  const child = spawn('git', parameters, { stdio: ['pipe', 'ignore', 'pipe'] })
  child.stdin.on('error', () => {}).end(input)
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const [code, said] = await Promise.all([ended, text(child.stderr)])
  if (code !== 0) throw new Error(`git ${parameters.join(' ')}: ${said}`)
}

export type Commits = ReadonlyMap<Change, string>

/** Returns the name of the commit of each change that was merged. */
export async function makeRepository(folder: string, story: ServiceStory): Promise<Commits> {
  const repository = join(folder, story.service.name)
  const marks = join(folder, `${story.service.name}.marks`)
  const changes = mergedChanges(story)
  await git(['init', '--quiet', '--bare', '--initial-branch=main', repository])
  appendFileSync(join(repository, 'config'), '[uploadpack]\n\tallowFilter = true\n')
  const commits = changes.map(commitOf).join('')
  await git(['-C', repository, 'fast-import', '--quiet', `--export-marks=${marks}`], commits)
  const lines = readFileSync(marks, 'utf8').trim().split('\n')
  return new Map(
    lines.map((line) => {
      const [mark = '', name = ''] = line.slice(1).split(' ')
      return [changes[Number(mark) - 1] as Change, name]
    }),
  )
}
