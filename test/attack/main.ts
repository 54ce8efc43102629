// Attacks the whole program, one attack after the other, while a customer asks:
//   npm run attack [-- NAME…] [--seconds N]
// Prints the table of docs/security-tests.md.

import { parseArgs } from "node:util";
import { pause } from "../support/pause.ts";
import type { Attack } from "./attack.ts";
import { attacks } from "./attacks.ts";
import { type Attacked, startTarget } from "./target.ts";
import { endConnections } from "./wire.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "10" } },
});
const seconds = Number(values.seconds);
const chosen = positionals.length === 0 ? attacks : attacks.filter(({ name }) => positionals.includes(name));
/** Milliseconds between two requests of the honest customer. */
const paceMs = 50;

/** A row: what the customer met while something else went on. */
async function measure(service: Attacked, { name, what, shown, burst }: Attack): Promise<string> {
  const before = await service.measure();
  const until = performance.now() + seconds * 1000;
  const attack = (async () => {
    while (performance.now() < until) {
      await burst(service.target);
    }
  })();
  const asked: Promise<void>[] = [];
  const times: number[] = [];
  let failed = 0;
  while (performance.now() < until) {
    const began = performance.now();
    asked.push(
      service.honest().then((status) => {
        times.push(performance.now() - began);
        failed += status === 200 ? 0 : 1;
      }),
    );
    await pause(paceMs, "honest requests come at a pace");
  }
  await Promise.all([attack, ...asked]);
  const after = await service.measure();
  const at = (part: number) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)]?.toFixed(0) ?? "–";
  const memory = ((after.residentBytes - before.residentBytes) / 2 ** 20).toFixed(0);
  const cpu = ((100 * (after.cpuSeconds - before.cpuSeconds)) / seconds).toFixed(0);
  const seen =
    shown === undefined ? "–" : `\`${shown.listener} ${shown.bound}\` ${after.refused(shown) - before.refused(shown)}`;
  return `| ${name} | ${what} | ${at(0.5)} | ${at(0.99)} | ${failed} of ${times.length} | ${memory} | ${cpu} % | ${seen} |`;
}

const quiet: Attack = {
  name: "quiet",
  what: "nobody attacks",
  shown: undefined,
  burst: () => pause(100, "the quiet turn is as long as an attack's"),
};

console.log("| attack | what | p50 ms | p99 ms | failed | MiB | CPU | refused |");
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
for (const attack of [quiet, ...chosen]) {
  await using service = await startTarget();
  for (let warm = 0; warm < 50; warm += 1) {
    await service.honest();
  }
  console.log(await measure(service, attack));
}
endConnections();
