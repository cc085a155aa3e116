/** Binds a group of command functions to the dependencies that all of them take as their first parameter. */

/** The functions without their first parameter, under the same names. */
export type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (
    dependencies: never,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

export function bindDependencies<
  Dependencies,
  Functions extends Record<string, (dependencies: Dependencies, ...rest: never[]) => unknown>,
>(dependencies: Dependencies, functions: Functions): Bound<Functions> {
  const bound = Object.entries(functions).map(([name, run]) => [
    name,
    (...rest: never[]) => run(dependencies, ...rest),
  ]);
  return Object.fromEntries(bound) as Bound<Functions>;
}
