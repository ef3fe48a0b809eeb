import { Command } from 'commander'
import { isTrafficInstalled, refuseTraffic, TRAFFIC_MISSING } from '../start/traffic-door.ts'

export const traffic = new Command('traffic').description('switch weighted traffic between two clusters')

if (isTrafficInstalled()) {
  const { trafficCommands } = await import('./traffic/commands.ts')
  for (const command of trafficCommands) traffic.addCommand(command)
} else {
  const anything = traffic.argument('[arguments...]').allowUnknownOption()
  anything.addHelpText('after', `\n${TRAFFIC_MISSING}`).action(refuseTraffic)
}
