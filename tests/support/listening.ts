import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Makes a fake source listen on a free port of this machine. */
export async function listening(server: Server): Promise<{ readonly url: string; stop(): Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
