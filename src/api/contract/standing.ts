/** A reason why data collection has stopped, as the API shows it. */
import { z } from 'zod'
import { CAUSES } from '../../runner/standstill/causes.ts'
import { CAUSE_NAMES, SEVERITIES, type Standing } from '../../runner/standstill/standing.ts'
import { time } from './common.ts'

export const standing = z.object({
  cause: z.enum(CAUSE_NAMES),
  severity: z.enum(SEVERITIES),
  host: z.string().meta({ description: 'The machine that it is true of; empty: of the whole installation.' }),
  sentence: z.string(),
  remedy: z.string().meta({ description: 'What to do.' }),
  since: time,
  runs: z
    .array(z.int())
    .nullable()
    .meta({ description: 'The runs that it holds up; null: all that are not finished.' }),
})

export const standingAnswer = ({ cause, severity, host, sentence, remedy, since, runs }: Standing) => ({
  cause,
  severity,
  host,
  sentence,
  remedy,
  since,
  runs: runs ? [...runs] : null,
})

/** For users who see only some projects: without names of machines, connections and runs. */
export const standingInGeneral = ({ cause, severity, since }: Standing) => ({
  cause,
  severity,
  host: '',
  since,
  sentence: CAUSES[cause].title,
  remedy: 'Tell whoever runs this installation.',
  runs: null,
})
