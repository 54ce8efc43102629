import { maxWorkers } from "./scripts/jest/max-workers.ts";

/** Sources are TypeScript and ESM, which Node.js loads as it does when it runs them: see `scripts/jest/runtime.ts`. */
export default {
  extensionsToTreatAsEsm: [".ts"],
  transform: {},
  runtime: "<rootDir>/scripts/jest/runtime.ts",
  testEnvironment: "<rootDir>/scripts/jest/environment.ts",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/dist/"],
  injectGlobals: false,
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
  testSequencer: "<rootDir>/scripts/jest/longest-first.cjs",

  maxWorkers,
  // A worker has the sources once, and keeps the tests of every file that it has run: only what leaks comes to so much.
  workerIdleMemoryLimit: "1GB",
  // A worker with nothing open still needs more than jest's half second to end on a busy machine, and is then called a leak.
  workerGracefulExitTimeout: 30_000,
  // For a machine that does other work, too: nothing but a failure takes so long.
  testTimeout: 60_000,
};
