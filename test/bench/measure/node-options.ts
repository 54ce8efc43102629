const variable = "TOLLGATE_BENCH_NODE";

/** Runs a function while programs under test are started with options of Node.js, beside those of the environment. */
export async function withNodeOptions<T>(options: readonly string[], run: () => Promise<T>): Promise<T> {
  const before = process.env[variable];
  process.env[variable] = [before, ...options].filter((option) => option !== undefined).join(" ");
  try {
    return await run();
  } finally {
    if (before === undefined) {
      delete process.env[variable];
    } else {
      process.env[variable] = before;
    }
  }
}

/** Options of Node.js for the programs under test, from TOLLGATE_BENCH_NODE, such as `--cpu-prof --cpu-prof-dir=/tmp/p`. */
export function nodeOptions(): string[] {
  return process.env[variable]?.split(" ") ?? [];
}
