import type { ComponentProps, ReactNode } from 'react'

/** The title of a column; or more about it. False leaves it out. */
type Head = string | false | (ComponentProps<'th'> & { readonly title?: string })

export const right = (title: string): Head => ({ title, className: 'right' })
export const ACTIONS: Head = { 'aria-label': 'Actions' }

interface TableProps extends ComponentProps<'table'> {
  readonly heads: readonly Head[]
  /** Its rows. */
  readonly children: ReactNode
}

/** A table on a card of its own, which scrolls when it is too wide. */
export const CardTable = (props: TableProps) => (
  <div className="card scroll">
    <Table {...props} />
  </div>
)

export const Table = ({ heads, children, className, ...attributes }: TableProps) => (
  <table className={className ? `plain ${className}` : 'plain'} {...attributes}>
    <thead>
      <tr>{heads.map(headOf)}</tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)

function headOf(head: Head) {
  if (head === false) return null
  if (typeof head === 'string') return <th key={head}>{head}</th>
  const { title, ...attributes } = head
  return (
    <th key={title ?? attributes['aria-label']} {...attributes}>
      {title}
    </th>
  )
}
