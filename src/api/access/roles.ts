/** Roles: what users may do, and in which projects. */
import type { Grant, GroupRoles, Role } from '../../config/config.ts'
import { ROLES } from '../../config/config.ts'

export const EVERYTHING: readonly Grant[] = [{ role: 'admin' }]

const covers = ({ role }: Grant, least: Role) => ROLES.indexOf(role) >= ROLES.indexOf(least)

export const mayEverywhere = (grants: readonly Grant[], least: Role): boolean =>
  grants.some((grant) => grant.project === undefined && covers(grant, least))

export const maySomewhere = (grants: readonly Grant[], least: Role): boolean =>
  grants.some((grant) => covers(grant, least))

export const mayIn = (grants: readonly Grant[], least: Role, project: string): boolean =>
  grants.some((grant) => (grant.project === undefined || grant.project === project) && covers(grant, least))

/** The projects to show; undefined: all of them. */
export const projectsOf = (grants: readonly Grant[]): readonly string[] | undefined =>
  mayEverywhere(grants, 'viewer') ? undefined : grants.flatMap(({ project }) => project ?? [])

export const grantsOfGroups = (roles: GroupRoles, groups: readonly string[]): Grant[] =>
  roles.flatMap(({ group, grants }) => (group === '*' || groups.includes(group) ? grants : []))
