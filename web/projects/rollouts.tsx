import { Button, Pagination } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnswerTo } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Moment } from '../parts/parts.tsx'
import { counted } from '../parts/words.ts'
import { metricsWith, settingsOf } from './policy-settings.ts'
import { useSaveProject } from './save.ts'

type Answer = AnswerTo<'GET /v1/rollouts'>
type Rollout = Answer['rollouts'][number]
type Rule = Pick<Answer['rules'][number], 'join' | 'apart'>

const PAGE = 25

/** Shows which rows describe the same rollout, and how to undo that. */
export function Rollouts({ project }: { readonly project: Project }) {
  const isAdmin = useMay('admin')
  const [page, setPage] = useState(1)
  const answer = useQuery(question('GET /v1/rollouts', { query: { project: project.name, page, pageSize: PAGE } }))
  const { save, isSaving, conflict } = useSaveProject(project, 'The rules were not changed')
  const keep = (rules: readonly Rule[]) =>
    save({
      metrics: metricsWith(project, { ...settingsOf(project), rolloutRules: rules.length > 0 ? rules : null }),
    })
  return (
    <Asked of={answer}>
      {({ policy, rules, count, rollouts }) => {
        const own = rules.map(({ problem: _, ...rule }) => rule)
        return (
          <>
            <p className="quiet" style={{ marginBottom: 16, maxWidth: 720 }}>
              {policy === 'once'
                ? 'A rollout counts once, however many rows tell of it: the deployment that a tool records, the run that made it, what a webhook reported.'
                : 'The policy “every-row” is in force: each of these rows counts, as in DevLake.'}{' '}
              <Link to="/projects/$name" params={{ name: project.name }} search={{ tab: 'policies' }}>
                Change the policy
              </Link>
            </p>
            {rules.length > 0 && (
              <section className="card" style={{ marginBottom: 16 }} aria-label="Rules">
                <h2 style={{ marginBottom: 8 }}>Rules</h2>
                <div className="lines small">
                  {rules.map(({ join, apart, problem }, index) => (
                    <div key={JSON.stringify([join, apart])} className="row">
                      <span>
                        {join ? 'One rollout: ' : 'Kept apart: '}
                        <bdi className="mono">{(join ?? apart ?? []).join(', ')}</bdi>
                        {problem && <span className="bad"> {problem}</span>}
                      </span>
                      {isAdmin && (
                        <Button
                          size="compact-sm"
                          variant="default"
                          disabled={isSaving}
                          onClick={() => keep(own.filter((_, place) => place !== index))}
                        >
                          Remove
                        </Button>
                      )}
                    </div>
                  ))}
                </div>
              </section>
            )}
            {count === 0 ? (
              <Empty title="No rollout is told twice">
                Every deployment of this project is known by one row. What belongs together is found after each run.
              </Empty>
            ) : (
              <section className="card scroll" aria-label="Rollouts that several rows tell of">
                <h2 style={{ marginBottom: 8 }}>
                  {counted(count, 'rollout')} {count === 1 ? 'is' : 'are'} told by more than one row
                </h2>
                <table className="plain">
                  <thead>
                    <tr>
                      <th>Deployment</th>
                      <th>From</th>
                      <th>Environment</th>
                      <th>Finished</th>
                      <th>Why</th>
                      <th />
                    </tr>
                  </thead>
                  {rollouts.map((rollout) => (
                    <Rows
                      key={rollout.id}
                      rollout={rollout}
                      apart={isAdmin && !isSaving ? (id) => keep([...own, { apart: [rollout.id, id] }]) : undefined}
                    />
                  ))}
                </table>
                {count > PAGE && <Pagination mt={12} total={Math.ceil(count / PAGE)} value={page} onChange={setPage} />}
              </section>
            )}
            {conflict}
          </>
        )
      }}
    </Asked>
  )
}

interface RowsProps {
  readonly rollout: Rollout
  readonly apart: ((id: string) => void) | undefined
}

const Rows = ({ rollout: { rows }, apart }: RowsProps) => (
  <tbody>
    {rows.map(({ id, stands, counts, why, title, url, source, kind, environment, finishedAt }) => (
      <tr key={id}>
        <td style={{ paddingLeft: stands ? 0 : 16, fontWeight: stands ? 600 : 400 }}>
          {url ? (
            <a href={url} target="_blank" rel="noreferrer">
              <bdi>{title}</bdi>
            </a>
          ) : (
            <Link to="/data/record" search={{ table: 'cicd_deployments', id }}>
              {title}
            </Link>
          )}
          {!counts && <span className="small faint"> not counted</span>}
        </td>
        <td>
          <bdi>{source}</bdi> <span className="small faint">{kind}</span>
        </td>
        <td>{environment}</td>
        <td>
          <Moment at={finishedAt} />
        </td>
        <td className="small quiet" style={{ maxWidth: 320 }}>
          {why}
        </td>
        <td>
          {!stands && apart && (
            <Button size="compact-sm" variant="default" aria-label={`Keep ${title} apart`} onClick={() => apart(id)}>
              Keep apart
            </Button>
          )}
        </td>
      </tr>
    ))}
  </tbody>
)
