/** Reads the answer that a message tells, so that messages say what pages say. */
import { readAnswer } from '../control-plane/answer/read-answer.ts'
import { wholeOf } from '../control-plane/groups/whole.ts'
import type { Measured } from '../control-plane/projects/measure.ts'
import type { Answer, Period, Whose } from '../metrics/answer/answer.ts'

/** Without a project, the answer is that of all projects. */
export async function answerAbout(context: Measured, project: string, { from, to }: Period): Promise<Answer> {
  const whose: Whose = project === '' ? { kind: 'all', name: null } : { kind: 'project', name: project }
  const filter = await wholeOf(context.database, whose, { environment: 'PRODUCTION', from, to })
  const asked = new URLSearchParams({
    ...(project === '' ? { all: 'true' } : { project }),
    from: from.toISOString(),
    to: to.toISOString(),
  })
  return readAnswer(context, { whose, filter, itemsAt: (metric) => `/v1/metrics/${metric}/items?${asked}`, today: to })
}
