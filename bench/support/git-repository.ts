/** A repository of any size, made by `git fast-import`: merges, tags, branches, edits of a few lines, new files. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

const FILES = 3000
const LINES = 24
const AUTHORS = 300
const PIECE = 1 << 20

/** Numbers that look random and are the same each time (a linear congruential generator). */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

const WORDS = 'add fix the a parser queue token of in when retry page handles empty branch row index cache not'.split(
  ' ',
)

function* stream(commits: number): Generator<string> {
  const roll = dice(7)
  const sentence = (words: number) => Array.from({ length: words }, () => WORDS[roll(WORDS.length)]).join(' ')
  const line = () => `const ${sentence(4).replaceAll(' ', '_')} = ${roll(100_000)}`
  const pathOf = (file: number) => `src/part-${file % 40}/group-${Math.floor(file / 40) % 10}/file-${file}.ts`
  const contents = new Map<number, string[]>()
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const side: number[] = []
  let main = 0

  for (let mark = 1; mark <= commits; mark++) {
    const isSide = mark > 10 && mark % 12 === 5
    const merged = mark % 12 === 10 ? side.shift() : undefined
    const moment = 1_400_000_000 + mark * 3000
    const author = roll(AUTHORS)
    const ident = `Author ${author} <author${author}@example.com> ${moment} +0${author % 10}00`
    const body = roll(3) === 0 ? '' : `\n\n${sentence(12)}\n${sentence(14)}\n${sentence(roll(40))}\n`
    let text = `commit refs/heads/${isSide ? `topic-${mark % 20}` : 'main'}\nmark :${mark}\nauthor ${ident}\ncommitter ${ident}\n`
    text += data(`${sentence(8)} (#${mark})${body}`)
    if (main > 0) text += `from :${main}\n`
    if (merged) text += `merge :${merged}\n`
    for (let edits = merged ? 1 : 1 + roll(4); edits > 0; edits--) {
      const file = roll(Math.min(FILES, 50 + mark))
      const lines = contents.get(file) ?? Array.from({ length: LINES }, line)
      contents.set(file, lines)
      for (let changed = 1 + roll(4); changed > 0; changed--) lines[roll(lines.length)] = line()
      text += `M 100644 inline ${pathOf(file)}\n${data(lines.join('\n'))}`
    }
    if (mark % 500 === 0) text += `tag v${mark / 500}\nfrom :${mark}\ntagger ${ident}\n${data(sentence(6))}`
    if (isSide) side.push(mark)
    else main = mark
    yield text
  }
}

export async function generateRepository(folder: string, commits: number): Promise<void> {
  spawnSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder])
  // As GitHub and GitLab do.
  spawnSync('git', ['-C', folder, 'config', 'uploadpack.allowFilter', 'true'])
  const child = spawn('git', ['-C', folder, '-c', 'core.compression=1', 'fast-import', '--quiet', '--force'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = once(child, 'close')
  let piece = ''
  for (const text of stream(commits)) {
    piece += text
    if (piece.length < PIECE) continue
    if (!child.stdin.write(piece)) await once(child.stdin, 'drain')
    piece = ''
  }
  child.stdin.end(piece)
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}
