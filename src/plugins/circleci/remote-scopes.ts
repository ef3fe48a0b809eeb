import type { RawRecord } from '../../database/table.ts'
import type { RemoteScopes } from '../../plugin-kit/index.ts'

/** CircleCI lists only projects that the owner of the token follows, all at once. */
export const remoteScopes: RemoteScopes = {
  async list({ client, signal }) {
    const { followed_projects } = (await client.send({ path: 'private/me' }, signal)).body
    const children = followed_projects.map(({ id, name, slug, org_id: organizationId }: RawRecord) => ({
      type: 'scope',
      parentId: null,
      id,
      name,
      fullName: slug,
      data: { id, slug, name, organizationId },
    }))
    return { children }
  },
}
