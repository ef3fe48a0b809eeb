/** Words mistakes on the command line like all other errors: what is wrong, what was probably meant, and what there is. */
import type { Command } from 'commander'
import { hintOf, shortName } from '../basics/nearest.ts'

export function explainUsage(command: Command, path: readonly string[] = [command.name()]): void {
  command
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: (text, write) => write(`weir: ${sentenceOf(command, path.join(' '), text)}\n`) })
  for (const each of command.commands) explainUsage(each, [...path, each.name()])
}

function sentenceOf(command: Command, path: string, text: string): string {
  const said = text.trim().replace(/^error: /, '')
  const named = (pattern: RegExp) => pattern.exec(said)?.[1]
  const subcommand = named(/^unknown command '(.*)'$/s)
  if (subcommand !== undefined) {
    const known = command.commands.map((each) => each.name())
    return `${path} has no command ${shortName(subcommand)}${hintOf(subcommand, known)}`
  }
  const option = named(/^unknown option '(.*)'$/s)
  if (option !== undefined) {
    const known = [...command.options.map(({ long, short }) => long ?? short ?? ''), '--help']
    return `${path} has no option ${shortName(option)}${hintOf(option, known)}`
  }
  const missing = named(/^missing required argument '(.*)'$/)
  const usage = `Usage: ${path} ${command.usage()}`
  if (missing !== undefined) return `${missing} is missing: add it. ${usage}`
  const value = named(/^option '(.*)' argument missing$/)
  if (value !== undefined) return `the value of ${value} is missing: add it. ${usage}`
  return `${said} ${usage}`
}
