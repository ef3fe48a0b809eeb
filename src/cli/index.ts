import type { Command } from 'commander'
import { traffic } from './traffic.ts'
import { up } from './up.ts'

/** Every subcommand, in the order of `weir --help`. */
export const commands: readonly Command[] = [up, traffic]
