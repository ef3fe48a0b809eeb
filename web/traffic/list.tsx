import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Moment, Page } from '../parts/parts.tsx'
import { CardTable } from '../parts/table.tsx'
import { Split, StateTag, type Switch, stepText, useStatus } from './describe.tsx'

const EVERY_MS = 5_000

export function TrafficList() {
  const isOperator = useMay('operator')
  const switches = useQuery({ ...question('GET /v1/traffic-switches'), refetchInterval: EVERY_MS })
  return (
    <Page
      title="Traffic"
      says="Moves from one cluster to another, step by step, and how far each is."
      actions={
        isOperator && (
          <Button component={Link} to="/traffic/new">
            New switch
          </Button>
        )
      }
    >
      <Asked of={switches}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No switch yet">
              A switch moves requests to another cluster by weights, with a look at incidents and health between the
              steps. <Link to="/traffic/new">Make a plan</Link> here, or bring one from the terminal with{' '}
              <code className="mono">npx weir traffic prepare</code>.
            </Empty>
          ) : (
            <CardTable className="switches" heads={['Switch', 'State', 'Traffic now', 'Step', 'Changed']}>
              {all.map((each) => (
                <Row key={each.id} of={each} />
              ))}
            </CardTable>
          )
        }
      </Asked>
    </Page>
  )
}

function Row({ of }: { readonly of: Switch }) {
  const { id, name, project, state, problem, updatedAt } = of
  const { data: status } = useStatus(of, EVERY_MS)
  return (
    <tr>
      <td style={{ maxWidth: 320 }}>
        <Link
          to="/traffic/$id"
          params={{ id }}
          className="cut"
          style={{ display: 'block', fontWeight: 500 }}
          title={id}
        >
          {name}
        </Link>
        <span className="small quiet">of project {project}</span>
      </td>
      <td>
        <StateTag state={state} />
      </td>
      <td className="traffic-now">
        {status && (
          <>
            <Split share={status.share} />
            <span className="small">{status.headline.replace(/^[^,]*, /, '')}</span>
          </>
        )}
        {problem && (
          <p className="small quiet cut" style={{ maxWidth: 420 }} title={problem}>
            {problem}
          </p>
        )}
      </td>
      <td className="small">{status?.step && stepText(status.step)}</td>
      <td>
        <Moment at={updatedAt} />
      </td>
    </tr>
  )
}
