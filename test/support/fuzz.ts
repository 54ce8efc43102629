import type { Parameters } from "fast-check";

/**
 * How long a property of a parser is fuzzed: so many runs in a test, or for the time that `npm run fuzz` gives it. The
 * environment has the seed of a run that is to be repeated; fast-check prints the seed and the input of one that failed.
 */
export function fuzzing(numRuns: number): Parameters<unknown> {
  const { TOLLGATE_FUZZ_SECONDS: seconds, TOLLGATE_FUZZ_SEED: seed } = process.env;
  return {
    ...(seconds === undefined
      ? { numRuns }
      : {
          numRuns: Number.MAX_SAFE_INTEGER,
          interruptAfterTimeLimit: Number(seconds) * 1000,
          markInterruptAsFailure: false,
        }),
    ...(seed !== undefined && { seed: Number(seed) }),
  };
}
