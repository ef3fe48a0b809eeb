/** The name of a program's file in the folder of its bundle. */
export const bundledName = (program: string): string =>
  `${program.replace(/^src\/|\.ts$/g, '').replaceAll(/[\\/]/g, '-')}.js`
