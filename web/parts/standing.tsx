import type { AnswerTo } from '../api/ask.ts'
import { Moment } from './parts.tsx'

type Standing = AnswerTo<'GET /v1/attention'>['standing'][number]

/** Why nothing goes on, and what to do: in the same words wherever it is shown. */
export const StandingWords = ({ of: { host, sentence, remedy, since } }: { readonly of: Standing }) => (
  <>
    {host && `On ${host}: `}
    {sentence}{' '}
    <span className="quiet">
      {remedy} Since <Moment at={since} />.
    </span>
  </>
)
