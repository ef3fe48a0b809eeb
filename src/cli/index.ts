import type { Command } from 'commander'
import { byName } from '../basics/by-name.ts'

/** Every subcommand, in the order of `weir --help`. Each is loaded when it is called, because most need a small part of the program. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = byName({
  up: async () => (await import('./up.ts')).up,
  collect: async () => (await import('./collect.ts')).collect,
  metrics: async () => (await import('./metrics.ts')).metrics,
  config: async () => (await import('./config.ts')).config,
  dashboards: async () => (await import('./dashboards.ts')).dashboards,
  audit: async () => (await import('./audit.ts')).audit,
  database: async () => (await import('./database.ts')).database,
  doctor: async () => (await import('./doctor.ts')).doctor,
  import: async () => (await import('./import.ts')).importCommand,
  worker: async () => (await import('./worker.ts')).worker,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./backup.ts')).restore,
  retention: async () => (await import('./retention.ts')).retention,
  storage: async () => (await import('./storage.ts')).storage,
  mcp: async () => (await import('./mcp.ts')).mcp,
  secrets: async () => (await import('./secrets.ts')).secrets,
  traffic: async () => (await import('./traffic.ts')).traffic,
  'new-source': async () => (await import('./new-source.ts')).newSource,
})

/** Only the command that the first word names. If it names none, all of them, for the help and for suggestions. */
export const commandsFor = (word: string | undefined): Promise<Command[]> => {
  const called = word === undefined ? undefined : LOADERS[word]
  return Promise.all((called ? [called] : Object.values(LOADERS)).map((load) => load()))
}
