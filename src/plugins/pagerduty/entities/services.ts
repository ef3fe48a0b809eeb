import { boards } from '../../../domain/ticket.ts'
import { entity, services } from '../kit.ts'

/** A service is stored as a board, because it holds incidents as a board holds issues. */
export default entity(services, {
  label: 'Services',
  domainTypes: ['TICKET'],
  convert: {
    to: [boards],
    where: ({ id }) => ({ id }),
    rows: ({ id, name, url }, { idOf }) => [boards.row({ id: idOf(services, id), name, url })],
  },
})
