/** Names the launcher of the program that tests start, for the processes that they run in: see `program.ts`. */
export const programVariable = "TOLLGATE_TEST_PROGRAM";
