import { Button } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { question } from '../api/queries.ts'
import { Moment } from '../parts/parts.tsx'
import { count } from '../parts/words.ts'
import { type Key, valueText } from './keys.ts'

/** Says which way of counting deployments applies. */
export const Counting = ({
  project,
  keys,
}: {
  readonly project: string
  readonly keys: readonly Key[] | undefined
}) => {
  const rollouts = keys?.[0]?.rollouts
  if (!rollouts) return null
  return (
    <p className="small quiet" style={{ marginBottom: 16 }}>
      {rollouts === 'once'
        ? 'A rollout counts once, however many rows tell of it.'
        : 'Every row of a deployment counts, as in DevLake: the policy “every-row” is in force.'}{' '}
      <Link to="/projects/$name" params={{ name: project }} search={{ tab: 'rollouts' }}>
        Show rollouts
      </Link>
    </p>
  )
}

/** Tells once how an update changed numbers that people have seen before. */
export function NumberChanges({ project }: { readonly project: string }) {
  const { data } = useQuery(question('GET /v1/number-changes', { query: { project } }))
  const [seen, setSeen] = useLocalStorage<readonly string[]>({
    key: 'weir-number-changes',
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  const nameOf = (name: string) => `${project} ${name}`
  return data?.changes
    .filter(({ name }) => !seen.includes(nameOf(name)))
    .map(({ name, at, reason, keys }) => (
      <section key={name} className="notice" style={{ display: 'block' }} aria-label="Numbers changed">
        <p>
          <b>The numbers of this project changed</b> <Moment at={at} />. {reason}
        </p>
        <table className="plain small" style={{ margin: '8px 0', maxWidth: 640 }}>
          <thead>
            <tr>
              <th>Key</th>
              <th>Before</th>
              <th>After</th>
            </tr>
          </thead>
          <tbody>
            {keys.map(({ metric, title, unit, before, after }) => (
              <tr key={metric}>
                <td>{title}</td>
                <td className="number">{numberText(before, unit)}</td>
                <td className="number">{numberText(after, unit)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <Button size="compact-sm" variant="default" onClick={() => setSeen([...seen, nameOf(name)])}>
          Understood
        </Button>
      </section>
    ))
}

const numberText = ({ value, counted }: { readonly value: number | null; readonly counted: number }, unit: string) =>
  `${value === null ? 'no value' : valueText(value, unit)}, of ${count(counted)}`
