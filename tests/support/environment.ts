/** Makes `process.env` what it was. A new object in its place would be missed by whoever holds the old one, as Vitest does. */
export function putEnvironmentBack(saved: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name]
  Object.assign(process.env, saved)
}
