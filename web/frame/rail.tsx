import { Drawer, Tooltip } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { question } from '../api/queries.ts'
import { FIND, FOLD, Icon, MARK, MORE, UNFOLD } from './icon.tsx'
import { searchKeys } from './palette.tsx'
import { Person } from './person.tsx'
import { FIRST, PLACES, REST } from './rooms.ts'

/** Stored in the browser, because it belongs to the screen, not to the user. */
export const useFolded = () =>
  useLocalStorage({ key: 'weir-rail', defaultValue: false, getInitialValueInEffect: false })

type Place = (typeof PLACES)[number]

const PlaceLink = ({
  place: { to, title, icon },
  onClick,
}: {
  readonly place: Place
  readonly onClick?: () => void
}) => (
  <Link
    to={to}
    className="place"
    {...(onClick && { onClick })}
    activeProps={{ 'aria-current': 'page' }}
    activeOptions={{ exact: to === '/', includeSearch: false }}
  >
    <Icon path={icon} /> <span>{title}</span>
  </Link>
)

export function Rail() {
  const [isFolded, setFolded] = useFolded()
  const { data } = useQuery({ ...question('GET /version'), staleTime: Number.POSITIVE_INFINITY })
  const hint = (title: string, child: ReactNode) => (
    <Tooltip key={title} label={title} position="right" disabled={!isFolded}>
      <div>{child}</div>
    </Tooltip>
  )
  return (
    <nav className="rail" aria-label="Main">
      <Link to="/" className="brand">
        <Icon path={MARK} /> <span>Weir</span>
      </Link>
      {hint(
        'Go to… (Ctrl K)',
        <button
          type="button"
          className="search"
          onClick={() => searchKeys.open()}
          {...(isFolded && { 'aria-label': 'Go to…' })}
        >
          <Icon path={FIND} /> <span>Go to…</span> <kbd className="mono">Ctrl K</kbd>
        </button>,
      )}
      {PLACES.map((place) => hint(place.title, <PlaceLink place={place} />))}
      <div className="foot">
        <Person isFolded={isFolded} />
        <button
          type="button"
          className="place fold"
          onClick={() => setFolded(!isFolded)}
          aria-label={isFolded ? 'Show the names of the pages' : 'Fold to icons'}
          aria-expanded={!isFolded}
        >
          <Icon path={isFolded ? UNFOLD : FOLD} /> <span>Fold</span>
        </button>
        <p className="version">
          <span>Weir {data?.version}</span> <a href="/swagger">API</a>
        </p>
      </div>
    </nav>
  )
}

/** The navigation at the bottom, within reach of a thumb. */
export function BottomBar() {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <nav className="bottom" aria-label="Main">
        {FIRST.map((place) => (
          <PlaceLink key={place.to} place={place} />
        ))}
        <button type="button" className="place" onClick={open} aria-haspopup="dialog">
          <Icon path={MORE} /> <span>More</span>
        </button>
      </nav>
      <Drawer opened={isOpen} onClose={close} position="bottom" title="More" size="auto">
        <div className="more">
          {REST.map((place) => (
            <PlaceLink key={place.to} place={place} onClick={close} />
          ))}
          <button
            type="button"
            className="place"
            onClick={() => {
              close()
              searchKeys.open()
            }}
          >
            <Icon path={FIND} /> <span>Go to…</span>
          </button>
          <Person isFolded={false} />
        </div>
      </Drawer>
    </>
  )
}
