import { Command } from 'commander'
import { counted } from '../basics/counted.ts'
import { acceptKey, keyFile } from '../secrets/encryption-key.ts'
import { rotateKey } from '../secrets/rotate-key.ts'
import { createRuntime, withDatabase } from './runtime.ts'

const rotate = new Command('rotate')
  .description('encrypt all stored secrets with a new key')
  .addHelpText(
    'after',
    '\nStop all servers of the database first. If the key is in the data folder, a new one replaces it; the old one stays as\nencryption-key.old, for older backups. If the key is in ENCRYPTION_SECRET, set NEW_ENCRYPTION_SECRET too, and set ENCRYPTION_SECRET\nto that value afterwards. If the command is interrupted, run it again.',
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
    console.log(`Encrypted with the new key: ${counted(encrypted, 'value')}.`)
    if (unreadable > 0) console.log(`${unreadable} could not be decrypted with the old key and were not changed.`)
    console.log(
      newEncryptionSecret
        ? 'Set ENCRYPTION_SECRET to the new value, and remove NEW_ENCRYPTION_SECRET.'
        : `The new key is in ${keyFile(config)}: keep a copy elsewhere.`,
    )
  })

const accept = new Command('accept-key')
  .description('continue with the present key, or a new one, if the old key is lost')
  .action(async () => {
    const runtime = createRuntime()
    await withDatabase(
      runtime,
      (database) => acceptKey(database, runtime.config),
      () => {},
    )
    console.log(
      'Values that were encrypted with the lost key cannot be read any more: enter tokens and passwords again.',
    )
  })

export const secrets = new Command('secrets')
  .description('the key that encrypts stored secrets')
  .addCommand(rotate)
  .addCommand(accept)
