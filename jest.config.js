/** Sources are TypeScript and ESM; swc strips the types, as Node does when it runs them. */
export default {
  extensionsToTreatAsEsm: [".ts"],
  transform: { "\\.ts$": ["@swc/jest", { jsc: { parser: { syntax: "typescript" }, target: "es2024" } }] },
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/dist/"],
  testEnvironment: "node",
  injectGlobals: false,
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
  testSequencer: "<rootDir>/scripts/longest-first.cjs",

  // Many files wait, for leases and outages that last as long as they do: a third one uses the two cores meanwhile.
  maxWorkers: 3,
  // A worker keeps the modules of every file that it has run. Behind a thousand megabytes of them a test that makes much
  // garbage took five times its CPU.
  workerIdleMemoryLimit: "400MB",
  // A worker with nothing open still needs more than jest's half second to end on a busy machine, and is then called a leak.
  workerGracefulExitTimeout: 30_000,
  // For a machine that does other work, too: nothing but a failure takes so long.
  testTimeout: 60_000,
};
