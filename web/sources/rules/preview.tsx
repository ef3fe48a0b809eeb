import { Button, Select } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type AnswerTo, ask } from '../../api/ask.ts'
import { question } from '../../api/queries.ts'
import type { Source } from '../../api/sources.ts'
import { Failure } from '../../parts/parts.tsx'
import { right, Table } from '../../parts/table.tsx'
import { count, counted, quantity } from '../../parts/words.ts'
import { KEYS } from '../../projects/keys.ts'
import { fieldsOf, type RuleValues } from './asked.ts'

type Effects = AnswerTo<'POST /v1/metrics/rule-preview'>
interface PreviewProps {
  readonly source: Source
  readonly connectionId: number
  readonly values: RuleValues
  readonly projects: readonly string[]
  readonly project: string | undefined
  onProject(project: string): void
}

/** Sends all rules whose effect can be calculated, and no others: a rule that is left out would count as unchanged. */
const previewed = (source: Source, values: RuleValues) =>
  Object.fromEntries(
    fieldsOf(source)
      .filter(([, { isPreviewed }]) => isPreviewed)
      .map(([name, { kind }]) => [name, values[name] ?? (kind === 'regex' ? '' : null)]),
  )

/** Shows how the rules in the form would change a project, calculated from stored data. */
export function Preview({ source, connectionId, values, projects, project = projects[0], onProject }: PreviewProps) {
  const rules = previewed(source, values)
  const look = useMutation({
    mutationFn: (body: { project: string; rules: RuleValues }) =>
      ask('POST /v1/metrics/rule-preview', {
        body: { ...body, connection: { plugin: source.plugin, id: connectionId } },
      }),
  })
  const isCurrent =
    look.variables?.project === project && JSON.stringify(look.variables?.rules) === JSON.stringify(rules)
  return (
    <aside className="card preview" aria-label="What this changes">
      <h2>What this changes</h2>
      {project === undefined ? (
        <p className="small quiet">
          No project uses these rules yet. Once one does, this shows which deployments and incidents a change wins or
          loses, before you save it.
        </p>
      ) : (
        <>
          <p className="small quiet">Worked out on stored data of the last six months; nothing is saved.</p>
          {projects.length > 1 && (
            <Select
              aria-label="Project"
              data={[...projects]}
              value={project}
              onChange={(next) => next && onProject(next)}
              searchable
            />
          )}
          {look.data && <Changes effects={look.data} source={source} isCurrent={isCurrent} />}
          {look.isError && <Failure error={look.error} />}
          {!(look.data && isCurrent) && (
            <Button
              variant="default"
              loading={look.isPending}
              onClick={() => look.mutate({ project, rules })}
              style={{ justifySelf: 'start' }}
            >
              {look.data ? 'Work it out again' : `Show the effect on ${short(project)}`}
            </Button>
          )}
        </>
      )}
    </aside>
  )
}

const short = (name: string) => (name.length > 24 ? `${name.slice(0, 23)}…` : name)

interface ChangesProps {
  readonly effects: Effects
  readonly source: Source
  readonly isCurrent: boolean
}

function Changes({ effects: { effects, keys }, source, isCurrent }: ChangesProps) {
  const metrics = useQuery({ ...question('GET /v1/metrics'), staleTime: Number.POSITIVE_INFINITY })
  const changed = effects.filter(({ starting, stopping }) => starting + stopping > 0)
  const labels = Object.fromEntries(fieldsOf(source).map(([name, { label }]) => [name, label]))
  return (
    <div style={{ display: 'grid', gap: 16, opacity: isCurrent ? 1 : 0.55 }} aria-live="polite">
      {!isCurrent && <p className="small">The rules were changed since.</p>}
      <Table className="small" heads={['Last six months', right('now'), right('then')]}>
        {keys.map(({ metric, before, after }) => {
          const key = KEYS.find(({ name }) => name === metric)
          const { unit = '' } = metrics.data?.find(({ name }) => name === metric) ?? {}
          return (
            <tr key={metric}>
              <td>
                {key?.title ?? metric}
                <div className="faint">{counted(after.counted, key?.of ?? 'item')} then</div>
              </td>
              <td className="right">{shown(before.value, unit)}</td>
              <td className="right" style={{ fontWeight: before.value === after.value ? 400 : 600 }}>
                {before.value === after.value ? 'the same' : shown(after.value, unit)}
              </td>
            </tr>
          )
        })}
      </Table>
      {changed.length === 0 ? (
        <p className="small quiet">Nothing starts or stops matching.</p>
      ) : (
        changed.map(({ rule, matching, starting, stopping, samples }) => {
          const [field = rule, word] = rule.split('.')
          return (
            <section key={rule} className="small">
              <h3>
                {labels[field] ?? field}
                {word && ` · ${word.toLowerCase()}`}
              </h3>
              <p className="quiet">
                {count(matching)} match: {count(starting)} gained, {count(stopping)} lost.
              </p>
              <Samples word="Gained" samples={samples.starting} of={starting} />
              <Samples word="Lost" samples={samples.stopping} of={stopping} />
            </section>
          )
        })
      )}
    </div>
  )
}

interface SamplesProps {
  readonly word: string
  readonly samples: Effects['effects'][number]['samples']['starting']
  readonly of: number
}

function Samples({ word, samples, of }: SamplesProps) {
  if (of === 0) return null
  const names = [...new Set(samples.map(({ name }) => name))]
  return (
    <p className="hits">
      <span className="quiet">{word}:</span>
      {names.map((name) => (
        <span key={name} className={`tag chip ${word === 'Gained' ? 'accent' : ''}`} title={name}>
          <bdi className="cut">{name || 'without a name'}</bdi>
        </span>
      ))}
      {of > samples.length && <span className="quiet">and {count(of - samples.length)} more</span>}
    </p>
  )
}

function shown(value: number | null, unit: string): string {
  if (value === null) return 'no value'
  return quantity(value, unit)
    .map(({ amount, unit: each }) => `${amount} ${each}`)
    .join(' ')
}
