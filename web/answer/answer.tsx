import './answer.css'
import { SegmentedControl, Select } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Answer } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { present } from '../parts/address.ts'
import { Asked, Moment } from '../parts/parts.tsx'
import { counted } from '../parts/words.ts'
import { periods } from '../projects/keys.ts'
import { DEFAULT_MONTHS, MONTHS } from './address.ts'
import { Course } from './course.tsx'
import { ItemsDrawer } from './items.tsx'
import { Keys } from './keys.tsx'
import { Look } from './look.tsx'
import { Part } from './part.tsx'
import { Sentence } from './sentence.tsx'
import { HowSure } from './sure.tsx'
import { daysOf } from './time-scale.ts'
import { Where } from './where.tsx'

const place = getRouteApi('/answer')

export function AnswerPage() {
  const { project, months = DEFAULT_MONTHS, from, to, items, since, until } = place.useSearch()
  const navigate = place.useNavigate()
  const period = from && to ? { from, to } : periods(months).current
  const whose = { project: project ?? '' }
  const answer = useQuery({
    ...question('GET /v1/answer', { query: { ...whose, ...period } }),
    enabled: project !== undefined,
    placeholderData: keepPreviousData,
  })
  useEffect(() => {
    document.title = `${project ?? 'Answer'} · Weir`
  }, [project])
  return (
    <>
      <Pick />
      {project === undefined ? (
        <p className="quiet">Choose a project to see how it is doing.</p>
      ) : (
        <Asked of={answer} lines={6}>
          {(data) => <Parts answer={data} />}
        </Asked>
      )}
      <ItemsDrawer
        of={answer.data?.keys.find(({ metric }) => metric === items)}
        whose={whose}
        period={{ from: since ?? period.from, to: until ?? period.to }}
        onClose={() =>
          void navigate({
            search: ({ items: _, since: __, until: ___, ...rest }) => rest,
            resetScroll: false,
          })
        }
      />
    </>
  )
}

/** Whose answer, and of which time: kept in the address. */
function Pick() {
  const { project = null, months = DEFAULT_MONTHS, from, to } = place.useSearch()
  const navigate = place.useNavigate()
  const [words, setWords] = useState('')
  const query = { pageSize: 50, sort: 'name' as const, ...(words && words !== project && { keyword: words }) }
  const found = useQuery({ ...question('GET /projects', { query }), placeholderData: keepPreviousData })
  const names = [...new Set([...(project ? [project] : []), ...(found.data?.projects ?? []).map(({ name }) => name)])]
  return (
    <div className="pick">
      <Select
        aria-label="Project"
        placeholder="Choose a project"
        searchable
        data={names}
        value={project}
        onSearchChange={setWords}
        nothingFoundMessage="No project has this name"
        onChange={(value) => void navigate({ search: (now) => present({ ...now, project: value ?? undefined }) })}
      />
      <SegmentedControl
        aria-label="Range"
        data={MONTHS.map((each) => ({ value: String(each), label: each === 12 ? '1 year' : `${each} mo` }))}
        value={from ? '' : String(months)}
        onChange={(value) =>
          void navigate({ search: ({ from: _, to: __, ...now }) => ({ ...now, months: Number(value) }) })
        }
      />
      {from && to && <span className="quiet">{daysOf({ from, to })}</span>}
    </div>
  )
}

function Parts({ answer }: { readonly answer: Answer }) {
  const { sentence, range, before, keys, sure, findings, when } = answer
  return (
    <>
      <h1 className="answer">
        {sentence.map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the sentences of an answer never change their order
          <span key={at}>
            <Sentence of={each} />{' '}
          </span>
        ))}
      </h1>
      <p className="rests">
        <span>
          {daysOf(range)} against {daysOf(before)}
        </span>
        <span>{sure.counted.map(({ material, counted: number }) => `${number} ${material}`).join(', ')}</span>
        <span>
          Collected <Moment at={sure.collectedAt} />
          {sure.gaps.length > 0 && `, ${counted(sure.gaps.length, 'gap')}`}
        </span>
      </p>
      <Part
        id="keys"
        finding={findings.keys}
        how="Throughput first, then instability. A change that may be chance has no colour."
        legend={
          <>
            <span>
              <i className="stroke" /> this range
            </span>
            <span>
              <i className="stroke before" /> before
            </span>
          </>
        }
      >
        <Keys keys={keys} />
      </Part>
      <Part
        id="when"
        finding={['Lead time, deployments and incidents']}
        how={`By ${when.bucket}. Click a ${when.bucket} for its items, drag to choose a range.`}
        legend={
          <span>
            <i className="hatched" /> not collected, or not over yet
          </span>
        }
      >
        <Course answer={answer} />
      </Part>
      <Part
        id="where"
        finding={findings.where}
        how="Stages of the fifth of all changes that is nearest to the median, so that they add up to it. Blue is work, orange is waiting."
      >
        <Where answer={answer} />
      </Part>
      <Part id="look" finding={findings.look} how="What weighs most on each of the five.">
        <Look answer={answer} />
      </Part>
      <Part id="sure" finding={findings.sure} how="What counts, what does not and why, and how far chance may reach.">
        <HowSure answer={answer} />
      </Part>
    </>
  )
}
