import './dashboards.css'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Page } from '../parts/parts.tsx'
import { NewDashboard } from './new-dashboard.tsx'

const place = getRouteApi('/dashboards')

export function DashboardList() {
  const search = place.useSearch()
  const navigate = place.useNavigate()
  const isOperator = useMay('operator')
  const dashboards = useQuery(question('GET /v1/dashboards'))
  return (
    <Page
      title="Dashboards"
      says="Each answers one question, for the project and the time that you choose."
      actions={
        <>
          <Button variant="subtle" component="a" href="/v1/dashboard-templates.tar.gz" download>
            All for Grafana
          </Button>
          {isOperator && (
            <Button variant="default" onClick={() => void navigate({ search: { new: true } })}>
              Arrange your own
            </Button>
          )}
        </>
      }
    >
      <Asked of={dashboards}>
        {(all) => {
          const groups = Map.groupBy(all, ({ group }) => group)
          return [...groups].map(([group, some]) => (
            <section key={group} className="dashboard-group">
              <h2>{group}</h2>
              <ul className="dashboard-list">
                {some.map(({ name, title, question: asked }) => (
                  <li key={name}>
                    <Link to="/dashboards/$dashboard" params={{ dashboard: name }} className="card">
                      <h3>
                        <bdi>{title}</bdi>
                      </h3>
                      <p className="quiet">
                        <bdi>{asked || 'Built from panels of other dashboards.'}</bdi>
                      </p>
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ))
        }}
      </Asked>
      {search.new && <NewDashboard onClose={() => void navigate({ search: {}, replace: true })} />}
    </Page>
  )
}
