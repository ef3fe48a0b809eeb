/** Pages of the settings, in the order of their tabs. */
export const SETTINGS = [
  { to: '/settings', title: 'General', says: 'Health of this installation, theme and session', isForAdmins: false },
  { to: '/settings/api-keys', title: 'API keys', says: 'Keys for scripts and tools', isForAdmins: true },
  { to: '/settings/alerts', title: 'Alerts', says: 'Who is told when a number goes wrong', isForAdmins: false },
  { to: '/settings/groups', title: 'Groups', says: 'Projects that belong together, and targets', isForAdmins: false },
  { to: '/settings/people', title: 'People', says: 'Teams, people, accounts and project mapping', isForAdmins: false },
  { to: '/settings/storage', title: 'Storage', says: 'What fills the database', isForAdmins: false },
  { to: '/settings/queue', title: 'Queue', says: 'Workers, and what waits for them', isForAdmins: false },
  { to: '/settings/configuration', title: 'Configuration', says: 'All settings as one file', isForAdmins: true },
  { to: '/settings/audit', title: 'Audit log', says: 'Who changed what', isForAdmins: true },
] as const
