/** The error codes of MySQL and MariaDB for trouble with the server or a connection. */
import { byName } from '../../basics/by-name.ts'
import type { Tells } from '../again.ts'
import { codeOf, isLostWith, type Trouble } from '../explain.ts'

export const TROUBLES: Record<string, Trouble> = byName({
  ER_ACCESS_DENIED_ERROR: 'password',
  ER_DBACCESS_DENIED_ERROR: 'password',
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: 'password',
  ER_BAD_DB_ERROR: 'missing',
  ER_TABLEACCESS_DENIED_ERROR: 'rights',
  ER_OPTION_PREVENTS_STATEMENT: 'readOnly',
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 'readOnly',
  ER_RECORD_FILE_FULL: 'diskFull',
  ER_DISK_FULL: 'diskFull',
  ER_CON_COUNT_ERROR: 'noConnection',
  ER_SERVER_SHUTDOWN: 'lost',
  ER_ABORTING_CONNECTION: 'lost',
  ER_NEW_ABORTING_CONNECTION: 'lost',
  ER_CONNECTION_KILLED: 'lost',
  ER_FORCING_CLOSE: 'lost',
  ER_CLIENT_INTERACTION_TIMEOUT: 'lost',
  ER_NET_READ_INTERRUPTED: 'lost',
  ER_NORMAL_SHUTDOWN: 'lost',
  PROTOCOL_CONNECTION_LOST: 'lost',
  PROTOCOL_SEQUENCE_TIMEOUT: 'silent',
  ER_NET_PACKET_TOO_LARGE: 'packet',
})

export const isLost: Tells = isLostWith(TROUBLES)

/**
 * True when the server closed the connection because no statement came for too long. The error for a connection that somebody
 * ended does not count: it is also sent for statements that have begun.
 */
export const hadNoEffect: Tells = (error) => codeOf(error) === 'ER_CLIENT_INTERACTION_TIMEOUT'

export const isRetryable: Tells = (error) =>
  ['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD'].includes(codeOf(error))
