import { Link } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import { Moment } from './parts.tsx'

type Collected = NonNullable<AnswerTo<'GET /v1/partial-data'>['collectedBy']>

/** Tells where the data comes from if the project has never run. */
export const CollectedBy = ({ of: { project, run, finishedAt } }: { readonly of: Collected }) => (
  <>
    What it shares with {project ? <b>{project}</b> : 'others'} was collected by{' '}
    {run === null ? (
      'their run'
    ) : (
      <Link to="/runs/$id" params={{ id: String(run) }}>
        run {run}
      </Link>
    )}
    , <Moment at={finishedAt} />.
  </>
)
