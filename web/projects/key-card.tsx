import { Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import { Late } from '../parts/late.tsx'
import { Band } from '../parts/parts.tsx'
import { count, counted } from '../parts/words.ts'
import { Figure, NoGrade } from './figure.tsx'
import { changeOf } from './key-change.ts'
import { bandOf, gradeOf, isEmpty, type KEYS, type Key, useExplained } from './keys.ts'
import { Sparkline } from './sparkline.tsx'

interface KeyCardProps {
  readonly about: (typeof KEYS)[number]
  readonly project: string
  readonly months: number
  readonly now: Key | undefined
  readonly before: Key | undefined
  readonly failure: Error | null
}

export function KeyCard({ about: { name, title, of }, project, months, now, before, failure }: KeyCardProps) {
  const explained = useExplained(name, project, months)
  const band = now && bandOf(now)
  const earlier = before && !isEmpty(before) && before.value !== null ? { ...before, value: before.value } : undefined
  const change = now && earlier ? changeOf(now, earlier) : undefined
  return (
    <article className="card key" aria-label={title}>
      <header>
        {title}
        <Link
          to="/projects/$name"
          params={{ name: project }}
          search={(view) => ({ ...view, explain: name })}
          className="small"
          aria-label={`Explain ${title.toLowerCase()}`}
        >
          Explain
        </Link>
      </header>
      {!now ? (
        failure ? (
          <p className="small bad">{failure.message}</p>
        ) : (
          <Late>
            <Skeleton height={44} width="60%" mb={12} />
            <Skeleton height={64} />
          </Late>
        )
      ) : now.value === null || isEmpty(now) ? (
        <p className="quiet" style={{ flex: 1 }}>
          {explained.data ? whyNothing(explained.data, now) : ' '}
        </p>
      ) : (
        <>
          <Link
            to="/projects/$name"
            params={{ name: project }}
            search={(view) => ({ ...view, explain: name })}
            className="value number open-number"
            title={`What ${title.toLowerCase()} is made of`}
          >
            <Figure value={now.value} unit={now.unit} inWords={now.inWords} />
          </Link>
          <div className="row">
            {band ? <Band band={band} /> : <NoGrade of={now} />}
            {earlier && (
              <span
                className={`small number ${change ? (change.isGood ? 'good' : 'bad') : 'faint'}`}
                title="Against the period before"
              >
                {change?.words ?? 'no change'}
              </span>
            )}
          </div>
          <Sparkline
            points={now.points.map(({ value }) => value)}
            before={before?.points.map(({ value }) => value) ?? []}
            isBars={now.unit === 'days per week'}
          />
          <p className="small quiet">{sentenceOf(name, now, of)}</p>
        </>
      )}
    </article>
  )
}

type Explained = AnswerTo<'GET /v1/metrics/{metric}/explanation'>

/** Says what the number is based on. */
function sentenceOf(metric: string, { value, counted: own, restsOn, summary, grades }: Key, of: string): string {
  const all = counted(own, of)
  if (metric === 'change-lead-time') return `Median of ${restsOn}, from first commit to production.`
  if (metric === 'deployment-frequency')
    return value === 0
      ? ['At least half of the weeks had no deployment.', gradeOf({ grades })?.by].join(' ')
      : `Days with a deployment in the median week; ${all} in all.`
  if (summary === 'ratio') return dividedWords(value, own)
  if (metric === 'change-failure-rate') return `${count(Math.round((value ?? 0) * own))} of ${all} led to an incident.`
  if (summary === 'mean')
    return `Mean of ${restsOn} of the service; one that is not resolved counts until its last update.`
  return `Median of ${restsOn}, from deployment to resolution.`
}

/** Names both parts of a ratio, because their sum could be taken for the number that it relates to. */
function dividedWords(value: number | null, all: number): string {
  const deployments = value === null ? 0 : Math.round(all / (1 + value))
  return `${counted(all - deployments, 'incident')} of the service, divided by ${counted(deployments, 'deployment')}.`
}

/** Names that were found explain more than any reason. */
function whyNothing({ findings }: Explained, { noData }: Key): string {
  const [found] = findings
  if (found) return withoutMarks(found.seen)
  return noData ? `No data, because ${noData.because}.` : 'Nothing was collected yet that it could be made of.'
}

const withoutMarks = (text: string): string => text.replaceAll('`', '')
