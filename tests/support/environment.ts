/** Restores `process.env`. It must stay the same object: code that holds a reference to it, such as Vitest, would not see a new one. */
export function putEnvironmentBack(saved: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name]
  Object.assign(process.env, saved)
}
