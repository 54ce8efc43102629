/** What cores of one PostgreSQL have in common, in the environment of each. */
export const coreSecrets = {
  TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-bench-0123456789",
  TOLLGATE_KEY_PEPPER: "1:pepper-of-the-bench-0123456789-abcdef",
};
