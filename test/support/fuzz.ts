import type { Parameters } from "fast-check";

/**
 * How long a parser's property is fuzzed: `numRuns` in a test, or the time that `npm run fuzz` sets. The environment
 * has the seed of a run to repeat; fast-check prints the seed and the input of a failed run.
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
