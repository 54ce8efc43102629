// Puts faults into copies of the sources, one after the other, and tells what noticed each: the tests of its area, then
// simulated worlds. Ends with 1 when one is not noticed that is not named as equivalent. A run that was broken off goes on.
//   npm run mutate                               all mutations, by tests and by up to 300 worlds each
//   npm run mutate -- --short                    the short list; worlds are lived only where no test notices
//   npm run mutate -- --without-tests            all mutations, by worlds alone
//   [--only TEXT] again and again: names that have one of the texts, [--worlds 300], [--seconds 120] of CPU time for worlds, [--threads 2],
//   [--fresh] forgets what earlier runs found, in build/mutations.jsonl or, by worlds alone, build/mutations-worlds.jsonl
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { exitAsSet } from "../../scripts/test-services/workarounds/embedded-postgres.ts";
import { Copy } from "./copy.ts";
import { mutations } from "./list/all.ts";
import type { Mutation } from "./mutation.ts";
import { noticeByTests, noticeByWorlds } from "./notice.ts";
import { type Noticed, Results } from "./results.ts";
import { startServices } from "./services.ts";
import { isMissed, sumUp, tell } from "./table.ts";

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [""] },
    worlds: { type: "string" },
    seconds: { type: "string", default: "120" },
    threads: { type: "string", default: String(availableParallelism()) },
    "without-tests": { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
  },
});
const root = fileURLToPath(new URL("../..", import.meta.url));
/** A short run has little time for what no test notices. */
const worlds = Number(values.worlds ?? (values.short ? 30 : 300));
const seconds = Number(values.seconds);
const threads = Number(values.threads);

const asked = mutations.filter(
  ({ isShort, name }) => (isShort || !values.short) && values.only.some((text) => name.includes(text)),
);
/** Only whole runs are long enough to be broken off. */
const results = values.short
  ? undefined
  : new Results(root, values["without-tests"] ? "build/mutations-worlds.jsonl" : undefined);
if (values.fresh) {
  results?.forget();
}
const noticed = new Map<Mutation, Noticed>();
for (const mutation of asked) {
  const before = results?.find(mutation);
  if (before !== undefined) {
    noticed.set(mutation, before);
  }
}
const left = asked.filter((mutation) => !noticed.has(mutation));
console.log(`${noticed.size} of ${asked.length} mutations were tried before`);
/** The tests of the short list need no server. */
const needsServices = !(values.short || values["without-tests"]) && left.length > 0;
const stopServices = needsServices ? await startServices() : async () => {};
try {
  const work = async () => {
    const copy = await Copy.make(root);
    try {
      for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
        const { isLate, ...found } = await copy.with(mutation, () => notice(copy, mutation as Mutation));
        noticed.set(mutation, found);
        if (!isLate) {
          results?.add(mutation, found);
        }
        console.log(tell(mutation, found));
      }
    } finally {
      await copy.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, left.length) }, work));
} finally {
  await stopServices();
}
console.log(sumUp(noticed));
process.exitCode = [...noticed].some(([mutation, found]) => isMissed(mutation, found)) ? 1 : 0;
exitAsSet();

/** `isLate`: nothing noticed it that a busy machine may not cause, too, so a later run tries again. */
async function notice(copy: Copy, mutation: Mutation): Promise<Noticed & { readonly isLate: boolean }> {
  const { name } = mutation;
  const tests = values["without-tests"] ? undefined : await noticeByTests(copy, mutation);
  if (values.short && tests?.by !== undefined) {
    return { name, test: tests.by, judge: undefined, worlds: 0, isLate: tests.isLate };
  }
  const lived = await noticeByWorlds(copy, mutation, { worlds, seconds });
  const isLate = lived.isLate || tests?.isLate === true;
  return { name, test: tests?.by, judge: lived.by, worlds: lived.worlds, isLate };
}
