import { type Mutation, within } from "../mutation.ts";

/** Which server a core writes to, and what it does when none takes anything. No world lives connections. */
export const failoverMutations: readonly Mutation[] = within(
  { source: "src/storage", tests: "test/storage", worlds: [] },
  [
    {
      name: "behind a pooler nobody asks again whose timeline answers",
      file: "postgresql/behind-pooler.ts",
      find: "if (now - askedAt < freshMs) {",
      replace: "if (askedAt >= 0 || now - askedAt < freshMs) {",
      breaks: "so each asks once a second whose timeline answers",
      tests: ["pooler-failover"],
    },
    {
      name: "what a pooler's old primary took for a second is not looked for",
      file: "postgresql/history.ts",
      find: "if (isNew || this.#isAstray) {",
      replace: "if (isNew) {",
      breaks: "charges of that second are made again when it leads to the new one",
      tests: ["postgresql/history"],
    },
    {
      name: "of several servers that take writes the first is used",
      file: "postgresql/primary.ts",
      find: "(one, other) => other.timeline - one.timeline",
      replace: "(one, other) => one.timeline - other.timeline",
      breaks: "of several servers takes the one that was promoted last",
      tests: ["postgresql/primary"],
    },
    {
      name: "a standby may be taken for the server that takes writes",
      file: "postgresql/primary.ts",
      find: "if (position?.standby) {",
      replace: 'if (position?.system === "") {',
      breaks: "and takes the one that takes writes",
      tests: ["postgresql/primary"],
    },
    {
      name: "the next process of a data directory follows an old primary",
      file: "postgresql/history.ts",
      find: "if (isNew && this.#file !== undefined) {",
      replace: 'if (isNew && this.#file === "") {',
      breaks: "`database-history.json` in the data directory names that timeline for the next process",
      tests: ["postgresql/history"],
      isShort: true,
    },
    {
      name: "a full disk of the database is the fault of the charge",
      file: "availability/unreachable.ts",
      find: "53[0-3]00|",
      replace: "53[023]00|",
      breaks: "journals promise what ends, no charge is given up, and calls that must write get 503",
      tests: ["availability/unreachable", "postgresql/full-disk"],
    },
    {
      name: "a database that ends or recovers refuses charges for good",
      file: "availability/unreachable.ts",
      find: "57P0[1-3]|",
      replace: "",
      breaks: "Running streams go on. They are charged from the journal once the database is back, each once.",
      tests: ["availability/unreachable"],
    },
  ],
);
