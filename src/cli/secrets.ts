import { Command } from 'commander'
import { acceptKey, keyFile } from '../encryption-key.ts'
import { rotateKey } from '../rotate-key.ts'
import { createRuntime, withDatabase } from './runtime.ts'

const rotate = new Command('rotate')
  .description('encrypt everything that is stored with a new key')
  .addHelpText(
    'after',
    '\nStop all servers of the database first. A key in the data folder is replaced by a new one, and kept as encryption-key.old for older\nbackups. Where ENCRYPTION_SECRET holds it, set NEW_ENCRYPTION_SECRET too, and ENCRYPTION_SECRET to that value afterwards.\nWhen it is interrupted, run it again.',
  )
  .action(async () => {
    const runtime = createRuntime()
    const { config } = runtime
    const { newEncryptionSecret } = config
    const { encrypted, unreadable } = await withDatabase(
      runtime,
      (database) => rotateKey(database, config, newEncryptionSecret),
      () => {},
    )
    console.log(`${encrypted} values are encrypted with the new key.`)
    if (unreadable > 0) console.log(`${unreadable} could not be read with the old one and are as they were.`)
    console.log(
      newEncryptionSecret
        ? 'Set ENCRYPTION_SECRET to the new value, and take NEW_ENCRYPTION_SECRET away.'
        : `The new key is in ${keyFile(config)}: keep a copy elsewhere.`,
    )
  })

const accept = new Command('accept-key')
  .description(
    'go on with the key that is here, or a new one, although the database was set up with another that is lost',
  )
  .action(async () => {
    const runtime = createRuntime()
    await withDatabase(
      runtime,
      (database) => acceptKey(database, runtime.config),
      () => {},
    )
    console.log('What was encrypted with the lost key cannot be read any more: enter tokens and passwords again.')
  })

export const secrets = new Command('secrets')
  .description('the key that stored secrets are encrypted with')
  .addCommand(rotate)
  .addCommand(accept)
