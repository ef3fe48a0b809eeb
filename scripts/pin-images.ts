/**
 * Writes the digests of base images behind their tags, in the files that name images: `node scripts/pin-images.ts`. A tag can
 * be moved, a digest cannot. It asks the registries through Docker, so the release runs it, and no test does.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const FILES = ['Dockerfile', 'deploy/compose.yaml', 'deploy/chart/values.yaml']
/** `FROM node:24 AS build`, `image: postgres:18`. Images with a variable in their name are chosen by the person who installs. */
const IMAGE = /^(FROM |\s*image: )([a-z0-9][\w./-]*:[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?=\s|$)/gm

/** Adds its digest to every image of a text; `digestOf` looks it up. */
export const pinned = (text: string, digestOf: (image: string) => string): string =>
  text.replace(IMAGE, (_, before: string, image: string) => `${before}${image}@${digestOf(image)}`)

function askRegistry(image: string): string {
  const format = ['--format', '{{.Manifest.Digest}}']
  const digest = execFileSync('docker', ['buildx', 'imagetools', 'inspect', image, ...format], {
    encoding: 'utf8',
  }).trim()
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${image}: the registry gave no digest but ${digest}`)
  return digest
}

if (import.meta.main) {
  const known = new Map<string, string>()
  for (const file of FILES) {
    const text = readFileSync(file, 'utf8')
    const digestOf = (image: string) => {
      const digest = known.get(image) ?? askRegistry(image)
      known.set(image, digest)
      return digest
    }
    writeFileSync(file, pinned(text, digestOf))
  }
  for (const [image, digest] of known) console.log(`${image} ${digest}`)
}
