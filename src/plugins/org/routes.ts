/** Routes for teams, people, their accounts and the scopes of projects, as CSV files to read and to send back. */
import { z } from 'zod'
import { openCsv, queryFlag, type Route, route, unescaped, uploadedFile } from '../../plugin-kit/index.ts'
import { type OrgFile, orgFiles, takeOrgFile } from './files.ts'

const routesOf = (file: OrgFile): Route[] => {
  const { name, title, columns, sample } = file
  const path = `/plugins/org/${name}`
  const effect = file.replaces.length > 0 ? 'replaces what is stored' : 'adds to what is stored'
  return [
    route({
      method: 'GET',
      path,
      summary: title,
      least: 'viewer',
      size: 'none',
      cost: 'heavy',
      ...(sample && {
        query: z.object({ fake_data: queryFlag.meta({ description: 'A sample to begin with.' }) }),
      }),
      csv: { name, columns },
      runInThread: async ({ query }, { database }) => (sample && query?.fake_data ? sample : file.read(database)),
    }),
    route({
      method: 'PUT',
      path,
      summary: `${title}: the file ${effect}`,
      least: 'admin',
      size: 'file',
      cost: 'heavy',
      body: z.object({ file: uploadedFile }),
      failures: [413],
      runInThread: async ({ body }, server) => {
        const csv = await openCsv(name, body.file, unescaped)
        const change = { action: 'update', subject: 'org file', key: name } as const
        await takeOrgFile(server.database, file, csv, (inside, lines) =>
          server.record(inside, { ...change, after: { lines } }),
        )
      },
    }),
  ]
}

export const orgRoutes = orgFiles.flatMap(routesOf)
