import type { Command } from 'commander'
import { audit } from './audit.ts'
import { backup, restore } from './backup.ts'
import { collect } from './collect.ts'
import { config } from './config.ts'
import { dashboards } from './dashboards.ts'
import { database } from './database.ts'
import { doctor } from './doctor.ts'
import { importCommand } from './import.ts'
import { mcp } from './mcp.ts'
import { metrics } from './metrics.ts'
import { newSource } from './new-source.ts'
import { retention } from './retention.ts'
import { secrets } from './secrets.ts'
import { storage } from './storage.ts'
import { traffic } from './traffic.ts'
import { up } from './up.ts'
import { worker } from './worker.ts'

/** Every subcommand, in the order of `weir --help`. */
export const commands: readonly Command[] = [
  ...[up, collect, metrics, config, dashboards, audit, database, doctor, importCommand, worker],
  ...[backup, restore, retention, storage, mcp, secrets, traffic, newSource],
]
