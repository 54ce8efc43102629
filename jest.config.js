/** Sources are TypeScript and ESM; swc strips the types, as Node does when it runs them. */
export default {
  extensionsToTreatAsEsm: [".ts"],
  transform: { "\\.ts$": ["@swc/jest", { jsc: { parser: { syntax: "typescript" }, target: "es2024" } }] },
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/dist/"],
  testEnvironment: "node",
  injectGlobals: false,
  // Two cores: more workers only make servers and clients under test wait for each other.
  maxWorkers: 2,
  testTimeout: 20_000,
};
