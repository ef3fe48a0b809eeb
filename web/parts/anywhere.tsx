import { Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** An address of the web client that is built from data, so that the types cannot check it. */
export interface Address {
  readonly path: string
  readonly search?: Readonly<Record<string, string | number | boolean>>
}

/** Encodes names, which may contain any characters. */
export const pathOf = (parts: TemplateStringsArray, ...names: readonly (string | number)[]): string =>
  parts.reduce((address, part, index) => `${address}${encodeURIComponent(String(names[index - 1]))}${part}`)

/** Turns a page that the server names into an address, such as `/projects/shop?tab=blueprint`. */
export function addressOf(page: string): Address {
  const [path = '', query = ''] = page.split('?')
  return { path, search: Object.fromEntries(new URLSearchParams(query)) }
}

const linkTo = ({ path, search = {} }: Address) => ({ to: path as '/', search: search as never })

interface AnywhereProps {
  readonly at: Address
  readonly children: ReactNode
}

export const LinkTo = ({ at, children, ...rest }: AnywhereProps & { readonly className?: string }) => (
  <Link {...linkTo(at)} {...rest}>
    {children}
  </Link>
)

export const ButtonTo = ({ at, children, ...rest }: AnywhereProps & ButtonProps & { readonly title?: string }) => (
  <Button component={Link} variant="default" {...linkTo(at)} {...rest}>
    {children}
  </Button>
)
