/** The repositories themselves, so that commits between two deployments can be found. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { BOTS, PEOPLE } from './organisation.ts'
import type { Change, ServiceStory } from './story.ts'

const IDENTITIES = new Map<string, string>([
  ...PEOPLE.map(({ login, name, email }) => [login, `${name} <${email}>`] as const),
  ...BOTS.map((bot) => [bot, `${bot} <${bot}@users.noreply.github.com>`] as const),
])

/** A file's content or a message, as `git fast-import` reads it. */
const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`

/** Every change is squashed into one commit of the branch. */
function commitOf({ title, author, mergedAt, files }: Change, index: number): string {
  const who = `${IDENTITIES.get(author)} ${Math.floor(mergedAt / 1000)} +0000`
  const written = Array.from(
    { length: Math.min(files, 4) },
    (_, file) => `M 100644 inline src/part-${(index + file * 7) % 40}.ts\n${data(`// ${title}\n// ${index}\n`)}`,
  )
  return `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\n${data(title)}${written.join('')}\n`
}

/** Returns the name of each change's commit. */
export function makeRepository(folder: string, { service, changes }: ServiceStory): string[] {
  const repository = join(folder, service.name)
  const git = (parameters: readonly string[], input?: string) => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', repository, ...parameters], {
      encoding: 'utf8',
      maxBuffer: 1e9,
      ...(input !== undefined && { input }),
    })
    if (status !== 0) throw new Error(`git ${parameters[0]}: ${stderr}`)
    return stdout
  }
  spawnSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', repository])
  git(['config', 'uploadpack.allowFilter', 'true'])
  git(['fast-import', '--quiet'], changes.map(commitOf).join(''))
  return git(['rev-list', '--reverse', 'main']).trim().split('\n')
}
