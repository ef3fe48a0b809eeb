import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Empty, Page } from '../parts/parts.tsx'
import { Table } from '../parts/table.tsx'
import { counted } from '../parts/words.ts'

const PAGE = 50

export function BlueprintList() {
  const isAdmin = useMay('admin')
  const blueprints = useInfiniteQuery({
    queryKey: ['GET /blueprints', 'pages'],
    queryFn: ({ pageParam, signal }) => ask('GET /blueprints', { query: { page: pageParam, pageSize: PAGE } }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ count }, pages) => (pages.length * PAGE < count ? pages.length + 1 : undefined),
  })
  return (
    <Page
      title="Blueprints"
      says="What is collected and calculated, and when: one for each project, and those that only run a plan."
      actions={
        isAdmin && (
          <Button component={Link} to="/blueprints/new">
            Write a plan
          </Button>
        )
      }
    >
      <Asked of={blueprints}>
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.blueprints)
          if (rows.length === 0)
            return (
              <Empty title="No blueprint yet" action={<Link to="/projects">Create a project</Link>}>
                Every project brings its own. Besides, a plan can be written by hand: to fill fields of your own, or to
                run single steps.
              </Empty>
            )
          return (
            <div className="card scroll">
              <Table heads={['Blueprint', 'Project', 'Collects', 'Schedule (UTC)']}>
                {rows.map(({ id, name, projectName, mode, connections, isManual, cronConfig, enable }) => (
                  <tr key={id}>
                    <td style={{ maxWidth: 320 }}>
                      <Link
                        to="/blueprints/$id"
                        params={{ id: String(id) }}
                        className="cut"
                        style={{ display: 'block', fontWeight: 500 }}
                        title={name}
                      >
                        <bdi>{name}</bdi>
                      </Link>
                    </td>
                    <td style={{ maxWidth: 240 }} className="cut">
                      {projectName ? (
                        <Link to="/projects/$name" params={{ name: projectName }} title={projectName}>
                          <bdi>{projectName}</bdi>
                        </Link>
                      ) : (
                        <span className="faint">none</span>
                      )}
                    </td>
                    <td className="quiet">
                      {mode === 'ADVANCED'
                        ? 'what its plan says'
                        : counted(
                            connections.reduce((sum, each) => sum + each.scopes.length, 0),
                            'scope',
                          )}
                    </td>
                    <td>
                      {enable ? (
                        isManual ? (
                          <span className="quiet">by hand</span>
                        ) : (
                          <code className="mono">{cronConfig}</code>
                        )
                      ) : (
                        <span className="tag">off</span>
                      )}
                    </td>
                  </tr>
                ))}
              </Table>
              {blueprints.hasNextPage && (
                <Button
                  variant="subtle"
                  loading={blueprints.isFetchingNextPage}
                  onClick={() => void blueprints.fetchNextPage()}
                >
                  Show more
                </Button>
              )}
            </div>
          )
        }}
      </Asked>
    </Page>
  )
}
