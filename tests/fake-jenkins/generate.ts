/** Generates a Jenkins of any size, always the same for the same seed. */
import { createHash } from 'node:crypto'
import type { World } from './world.ts'

export interface GeneratedSize {
  readonly folders: number
  readonly jobsInFolder: number
  readonly buildsOfJob: number
  readonly branches: number
  readonly seed?: number
}

const MINUTE = 60_000
const RESULTS = ['SUCCESS', 'SUCCESS', 'SUCCESS', 'FAILURE', 'UNSTABLE', 'ABORTED']
const STAGES = [['build', 'test'], ['build', 'test', 'deploy to production'], ['build']]

/** Makes jobs `team-N/job-N`, and the multibranch project `team-N/app` with its branches. Returns the names of all items with builds. */
export function generate(world: World, size: GeneratedSize): string[] {
  const names: string[] = []
  const random = seeded(size.seed ?? 1)
  const start = Date.UTC(2024, 0, 1)
  const fill = (name: string, isPipeline: boolean) => {
    names.push(name)
    for (let number = 1; number <= size.buildsOfJob; number++) {
      world.build(name, {
        timestamp: start + number * MINUTE + Math.floor(random() * MINUTE),
        duration: Math.floor(random() * 10 * MINUTE),
        result: RESULTS[Math.floor(random() * RESULTS.length)] as string,
        stages: isPipeline ? STAGES[number % STAGES.length] : undefined,
        commits: [{ sha: shaOf(`${name}#${number}`), url: `https://git.example.com/${name}.git` }],
      })
    }
  }
  for (let folder = 1; folder <= size.folders; folder++) {
    world.add('folder', `team-${folder}`)
    for (let job = 1; job <= size.jobsInFolder; job++) {
      const isPipeline = job % 2 === 0
      world.add(isPipeline ? 'pipeline' : 'freestyle', `team-${folder}/job-${job}`)
      fill(`team-${folder}/job-${job}`, isPipeline)
    }
    if (size.branches === 0) continue
    world.add('multibranch', `team-${folder}/app`)
    for (let branch = 1; branch <= size.branches; branch++) {
      const name = `team-${folder}/app/${branch === 1 ? 'main' : `feature%2F${branch}`}`
      world.add('pipeline', name)
      fill(name, true)
    }
  }
  return names
}

export const shaOf = (text: string): string => createHash('sha1').update(text).digest('hex')

/** Park and Miller's generator: good enough for data that only has to differ. */
function seeded(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
