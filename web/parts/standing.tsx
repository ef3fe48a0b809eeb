import type { AnswerTo } from '../api/ask.ts'
import { Moment } from './parts.tsx'

type Standing = AnswerTo<'GET /v1/attention'>['standing'][number]

/** Says why collection has stopped and what to do, in the same words everywhere. */
export const StandingWords = ({ of: { host, sentence, remedy, since } }: { readonly of: Standing }) => (
  <>
    {host && `On ${host}: `}
    {sentence}{' '}
    <span className="quiet">
      {remedy} Since <Moment at={since} />.
    </span>
  </>
)
