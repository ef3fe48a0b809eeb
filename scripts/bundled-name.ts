/** The file of a program, in the folder of its bundle. */
export const bundledName = (program: string): string =>
  `${program.replace(/^src\/|\.ts$/g, '').replaceAll(/[\\/]/g, '-')}.js`
