import { text } from '../parts/address.ts'

export const STEPS = ['connect', 'choose', 'rules', 'project', 'numbers'] as const
export type Step = (typeof STEPS)[number]

/** The present step and what was chosen; what is left out is read from the server. */
export interface StartView {
  readonly step?: Step
  readonly plugin?: string
  readonly connection?: number
  readonly project?: string
  /** The metric whose items are shown, and the reason to filter them by. */
  readonly explain?: string
  readonly reason?: string
}

export const known = ({ step, plugin, connection, project, explain, reason }: Record<string, unknown>): StartView => ({
  ...(STEPS.includes(step as Step) && { step: step as Step }),
  ...(text(plugin) && { plugin: text(plugin) as string }),
  ...(Number(connection) > 0 && { connection: Number(connection) }),
  ...(text(project) && { project: text(project) as string }),
  ...(text(explain) && { explain: text(explain) as string }),
  ...(text(reason) && { reason: text(reason) as string }),
})
