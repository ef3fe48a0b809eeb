import { Command } from 'commander'
import { planCommands } from './traffic/plan-commands.ts'
import { switchCommands } from './traffic/switch-commands.ts'

export const traffic = new Command('traffic').description('switch weighted traffic between two clusters')
for (const command of [...planCommands, ...switchCommands]) traffic.addCommand(command)
