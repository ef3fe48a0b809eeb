import { Button, Switch } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueries } from '@tanstack/react-query'
import type { AnswerTo } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Late } from '../parts/late.tsx'
import { Band, Failure } from '../parts/parts.tsx'
import { count, counted } from '../parts/words.ts'
import { NoGrade } from './figure.tsx'
import { bandOf, isEmpty, KEYS, periods, saidText } from './keys.ts'
import { metricsWith } from './policy-settings.ts'
import { useSaveProject } from './save.ts'
import { ServiceChoice, type ServiceSettings } from './service-choice.tsx'

type Compared = AnswerTo<'GET /v1/metrics/{metric}/policies'>
type Policy = Compared['policies'][number]
type Settings = Policy['settings']

/** The settings of a policy that differ from the defaults. */
const repairOf = (policy: Policy, standard: Settings): Settings =>
  Object.fromEntries(Object.entries(policy.settings).filter(([name, value]) => value !== standard[name]))

interface PoliciesProps {
  readonly project: Project
  readonly months: number
}

export function Policies({ project, months }: PoliciesProps) {
  const { current } = periods(months)
  const answers = useQueries({
    queries: KEYS.map(({ name }) =>
      question('GET /v1/metrics/{metric}/policies', {
        path: { metric: name },
        query: { project: project.name, ...current },
      }),
    ),
  })
  const failed = answers.find(({ isError }) => isError)
  if (failed?.error) return <Failure error={failed.error} again={() => void failed.refetch()} />
  const compared = answers.flatMap(({ data }) => (data ? [data as Compared] : []))
  if (compared.length < KEYS.length)
    return (
      <Late>
        <p className="quiet">Each policy is calculated; this may take a moment.</p>
      </Late>
    )
  return <Table project={project} compared={compared} />
}

const UNITS = ['minutes', 'days per week', 'share', 'minutes']

function Table({ project, compared }: { readonly project: Project; readonly compared: readonly Compared[] }) {
  const isAdmin = useMay('admin')
  const { save, isSaving, conflict } = useSaveProject(project, 'The policy was not changed')
  const [first] = compared
  const standard = first?.standard ?? {}
  const chosen = first?.chosen.settings ?? {}
  function choose(settings: Settings) {
    save({ metrics: metricsWith(project, settings) })
  }
  function toggle(policy: Policy, isOn: boolean) {
    const repair = repairOf(policy, standard)
    const undone = Object.fromEntries(Object.keys(repair).map((name) => [name, standard[name] ?? null]))
    choose({ ...chosen, ...(isOn ? repair : undone) })
    notifications.show({
      id: 'policy',
      title: isOn ? `The policy “${policy.policy}” counts from now on` : `The policy “${policy.policy}” is off`,
      message: (
        <Button size="compact-sm" variant="default" onClick={() => choose(chosen)}>
          Undo
        </Button>
      ),
    })
  }
  return (
    <>
      <p className="quiet" style={{ marginBottom: 16, maxWidth: 720 }}>
        Without a policy, a rollout counts once, and all else counts as in DevLake. Each policy changes one thing; below
        is what each alone would make of the four keys, and how many items would count differently. Nothing is collected
        again: the numbers change at once. In force:{' '}
        {chosen.rollouts === 'every-row' ? 'every row counts' : 'a rollout counts once'}.
      </p>
      <div className="card scroll">
        <table className="plain">
          <thead>
            <tr>
              <th>Policy</th>
              {KEYS.map(({ name, title }) => (
                <th key={name}>{title}</th>
              ))}
              <th>In use</th>
            </tr>
          </thead>
          <tbody>
            <tr style={{ background: 'var(--accent-ground)' }}>
              <td style={{ paddingLeft: 12 }}>
                <b>This project now</b>
              </td>
              {compared.map(({ metric, chosen: value }, index) => (
                <td key={metric}>
                  <Value of={value} unit={UNITS[index] ?? ''} />
                </td>
              ))}
              <td />
            </tr>
            {first?.policies.map((policy) => {
              const repair = Object.entries(repairOf(policy, standard))
              const isOn = repair.every(([name, value]) => chosen[name] === value)
              const isReference = policy.policy === 'reference'
              return (
                <tr key={policy.policy}>
                  <td style={{ maxWidth: 320, paddingLeft: 12 }}>
                    <b>{policy.policy}</b>
                    <div className="small quiet">{policy.meaning}</div>
                  </td>
                  {compared.map(({ metric, policies }, index) => {
                    const own = policies.find((each) => each.policy === policy.policy)
                    return (
                      <td key={metric}>
                        {own && <Value of={own} unit={UNITS[index] ?? ''} differing={own.differing} />}
                      </td>
                    )
                  })}
                  <td>
                    {isReference ? (
                      <span className="small faint">for comparison</span>
                    ) : (
                      <Switch
                        aria-label={`Use ${policy.policy}`}
                        checked={isOn}
                        disabled={!isAdmin || isSaving}
                        onChange={({ currentTarget }) => toggle(policy, currentTarget.checked)}
                      />
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <ServiceChoice
        project={project.name}
        settings={chosen as unknown as ServiceSettings}
        isInUse={chosen.pairing === 'service-report'}
        isDisabled={!isAdmin || isSaving}
        save={(service) => choose({ ...chosen, ...service } as Settings)}
      />
      {conflict}
    </>
  )
}

interface ValueProps {
  readonly of: Pick<Policy, 'value' | 'inWords' | 'counted' | 'grades' | 'noGrade'>
  readonly unit: string
  /** Number of items that count differently than without a policy. */
  readonly differing?: number
}

function Value({ of, unit, differing }: ValueProps) {
  const band = bandOf(of)
  // If a policy leaves the value as it is, there is no need to read it again.
  if (differing === 0) return <span className="faint">the same</span>
  if (of.value === null || isEmpty(of)) return <span className="faint">no data</span>
  return (
    <>
      <div className="number" style={{ fontWeight: 600 }}>
        {saidText(of.value, unit, of.inWords)}
      </div>
      {band ? <Band band={band} /> : <NoGrade of={of} />}
      <div className="small faint">
        {differing === undefined ? `of ${count(of.counted)}` : `${counted(differing, 'item')} otherwise`}
      </div>
    </>
  )
}
