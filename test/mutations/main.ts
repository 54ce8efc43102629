// Puts faults into copies of the sources, one after the other, and tells what noticed each: the tests of its area, then
// simulated worlds. Ends with 1 when one is not noticed that is not named as equivalent.
//   npm run mutate                               all mutations, by tests and by 300 worlds each
//   npm run mutate -- --short                    the short list; worlds are lived only where no test notices
//   [--only TEXT] names that have the text, [--worlds 300], [--threads 2], [--without-tests]
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { exitAsSet } from "../../scripts/test-services/workarounds/embedded-postgres.ts";
import { Copy } from "./copy.ts";
import { mutations } from "./list/all.ts";
import type { Mutation } from "./mutation.ts";
import { noticeByTests, noticeByWorlds } from "./notice.ts";
import { startServices } from "./services.ts";

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    worlds: { type: "string" },
    threads: { type: "string", default: String(availableParallelism()) },
    "without-tests": { type: "boolean", default: false },
  },
});
const root = fileURLToPath(new URL("../..", import.meta.url));
/** A short run has little time for what no test notices. */
const worlds = Number(values.worlds ?? (values.short ? 30 : 300));
const threads = Number(values.threads);

/** Who noticed a mutation. */
interface Noticed {
  readonly mutation: Mutation;
  readonly test: string | undefined;
  readonly judge: string | undefined;
  readonly worlds: number;
}

const asked = mutations.filter(({ isShort, name }) => (isShort || !values.short) && name.includes(values.only));
/** The tests of the short list need no server. */
const needsServices = !(values.short || values["without-tests"]);
const stopServices = needsServices ? await startServices() : async () => {};
const noticed: Noticed[] = [];
try {
  const left = [...asked];
  const work = async () => {
    const copy = await Copy.make(root);
    try {
      for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
        const found = await copy.with(mutation, () => notice(copy, mutation as Mutation));
        noticed.push(found);
        console.log(tell(found));
      }
    } finally {
      await copy.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, asked.length) }, work));
} finally {
  await stopServices();
}
sumUp();
exitAsSet();

async function notice(copy: Copy, mutation: Mutation): Promise<Noticed> {
  const test = values["without-tests"] ? undefined : await noticeByTests(copy, mutation);
  if (worlds === 0 || (values.short && test !== undefined)) {
    return { mutation, test, judge: undefined, worlds: 0 };
  }
  const { by: judge, worlds: lived } = await noticeByWorlds(copy, worlds);
  return { mutation, test, judge, worlds: lived };
}

function tell({ mutation, test, judge, worlds: lived }: Noticed): string {
  const byJudge = judge === undefined ? `no judge in ${lived} worlds` : `${judge}, world ${lived}`;
  const isMissed = test === undefined && judge === undefined && mutation.equivalent === undefined;
  return `${isMissed ? "MISSED " : ""}${mutation.name} | ${test ?? "no test"} | ${byJudge}`;
}

/** Prints how many were noticed by what, and sets the exit code. */
function sumUp(): void {
  const count = (is: (one: Noticed) => boolean) => noticed.filter(is).length;
  const missed = noticed.filter(
    ({ mutation, test, judge }) => test === undefined && judge === undefined && mutation.equivalent === undefined,
  );
  console.log({
    mutations: noticed.length,
    byTests: count(({ test }) => test !== undefined),
    byWorlds: count(({ judge }) => judge !== undefined),
    equivalent: count(({ mutation }) => mutation.equivalent !== undefined),
    missed: missed.map(({ mutation }) => mutation.name),
  });
  process.exitCode = missed.length > 0 ? 1 : 0;
}
