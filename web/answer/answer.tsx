import './answer.css'
import { SegmentedControl, Select } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Answer } from '../api/description.ts'
import { question } from '../api/queries.ts'
import type { Whose } from '../explain/items.tsx'
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

const ALL = 'All projects'

export function AnswerPage() {
  const { project, team, group, months = DEFAULT_MONTHS, from, to, items, since, until } = place.useSearch()
  const navigate = place.useNavigate()
  const period = from && to ? { from, to } : periods(months).current
  const named = present({ project, team, group })
  const whose: Whose = Object.keys(named).length > 0 ? named : { all: 'true' }
  const answer = useQuery({
    ...question('GET /v1/answer', { query: { ...whose, ...period } }),
    placeholderData: keepPreviousData,
  })
  const title = project ?? group ?? team ?? ALL
  useEffect(() => {
    document.title = `${title} · Weir`
  }, [title])
  return (
    <>
      <Pick />
      <Asked of={answer} lines={6}>
        {(data) => <Parts answer={data} />}
      </Asked>
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

type Kind = 'project' | 'group' | 'all'
const KINDS: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'project', label: 'Project' },
  { value: 'group', label: 'Group' },
  { value: 'all', label: 'All' },
]

/** Whose answer, and of which time: kept in the address. */
function Pick() {
  const { project, group, team, months = DEFAULT_MONTHS, from, to } = place.useSearch()
  const navigate = place.useNavigate()
  const [kind, setKind] = useState<Kind>(project ? 'project' : group ? 'group' : 'all')
  const choose = (next: { readonly project?: string; readonly group?: string }) =>
    void navigate({ search: ({ project: _, group: __, team: ___, ...rest }) => ({ ...rest, ...next }) })
  return (
    <div className="pick">
      <SegmentedControl
        aria-label="Whose answer"
        data={[...KINDS]}
        value={team ? '' : kind}
        onChange={(value) => {
          setKind(value as Kind)
          if (value === 'all') choose({})
        }}
      />
      {team && <span>{team}</span>}
      {kind === 'project' && <ProjectSelect value={project} onChoose={(name) => choose({ project: name })} />}
      {kind === 'group' && <GroupSelect value={group} onChoose={(name) => choose({ group: name })} />}
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

interface SelectProps {
  readonly value: string | undefined
  readonly onChoose: (name: string) => void
}

function ProjectSelect({ value = '', onChoose }: SelectProps) {
  const [words, setWords] = useState('')
  const query = { pageSize: 50, sort: 'name' as const, ...(words && words !== value && { keyword: words }) }
  const found = useQuery({ ...question('GET /projects', { query }), placeholderData: keepPreviousData })
  const names = [...new Set([...(value ? [value] : []), ...(found.data?.projects ?? []).map(({ name }) => name)])]
  return (
    <Select
      aria-label="Project"
      placeholder="Choose a project"
      searchable
      allowDeselect={false}
      data={names}
      value={value || null}
      onSearchChange={setWords}
      nothingFoundMessage="No project has this name"
      onChange={(name) => name && onChoose(name)}
    />
  )
}

function GroupSelect({ value, onChoose }: SelectProps) {
  const { data } = useQuery(question('GET /v1/groups'))
  return (
    <Select
      aria-label="Group"
      placeholder={data?.groups.length === 0 ? 'No group exists: make one in the settings' : 'Choose a group'}
      searchable
      allowDeselect={false}
      data={(data?.groups ?? []).map(({ name }) => name)}
      value={value ?? null}
      nothingFoundMessage="No group has this name"
      onChange={(name) => name && onChoose(name)}
    />
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
