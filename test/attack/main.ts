// Attacks the whole program, one attack after the other, while a customer asks:
//   npm run attack [-- NAME…] [--seconds N] [--write]
// Prints the table of docs/security-tests.md, and with --write puts it there. Ends with 1 where a bar is missed or an attack
// had no time: all together have twelve minutes.

import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { pause } from "../support/pause.ts";
import type { Attack } from "./attack.ts";
import { Attacker } from "./attacker.ts";
import { attacks } from "./attacks.ts";
import { type Judged, missedBars, replaceTable, type Turn, tableHead, tableRow } from "./table.ts";
import { type Attacked, startTarget } from "./target.ts";
import { endConnections } from "./wire.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "10" },
    write: { type: "boolean", default: false },
    beside: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const unknown = positionals.filter((name) => !attacks.some((attack) => attack.name === name));
if (
  !(seconds >= 1 && seconds <= 60) ||
  unknown.length > 0 ||
  (values.write && (values.beside || positionals.length > 0))
) {
  console.error(
    `--seconds is 1 to 60, --write takes all attacks, and none of them beside: ${attacks.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}
const chosen = positionals.length === 0 ? attacks : attacks.filter(({ name }) => positionals.includes(name));
/** Milliseconds for all attacks. */
const wholeMs = 720_000;
/** Milliseconds that an attack may take beside its turns: a start, a burst that hangs, a stop. */
const spareMs = 45_000;
/** Milliseconds between two requests of the honest customer. */
const paceMs = 50;
const page = new URL("../../docs/security-tests.md", import.meta.url);

/** What the customer meets while something else goes on. */
async function takeTurn(service: Attacked, other: () => Promise<void>): Promise<Turn> {
  const before = await service.measure();
  const until = performance.now() + seconds * 1000;
  const attack = other();
  const asked: Promise<void>[] = [];
  const times: number[] = [];
  const failed: number[] = [];
  while (performance.now() < until) {
    const began = performance.now();
    asked.push(
      service.honest().then((status) => {
        times.push(performance.now() - began);
        if (status !== 200) {
          failed.push(status);
        }
      }),
    );
    await pause(paceMs, "honest requests come at a pace");
  }
  await Promise.all([attack, ...asked]);
  const after = await service.measure();
  return {
    ...{ times, failed, grownBytes: after.residentBytes - before.residentBytes },
    cpuPercent: (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds,
  };
}

/**
 * An attack after a quiet turn of the same process, so that a busy machine slows both. With --beside another service is
 * attacked than the one that the customer asks: what the customer meets then is what the machine costs, whatever a service does.
 */
async function judge({ name, what, shown }: Attack): Promise<Judged> {
  await using service = await startTarget();
  await using other = values.beside ? await startTarget() : undefined;
  const attackedOne = other ?? service;
  await using attacker = await Attacker.start();
  await service.warmUp();
  const quiet = await takeTurn(service, async () => {});
  const before = await attackedOne.measure();
  const attacked = await takeTurn(service, () => attacker.attack(name, attackedOne.target, seconds * 1000));
  const after = await attackedOne.measure();
  const counted = shown.map((one) => after.count(one) - before.count(one));
  return { name, what, quiet, attacked, shown, counted };
}

const lines = [...tableHead];
const missed: string[] = [];
let left = 0;
for (const line of lines) {
  console.log(line);
}
for (const attack of chosen) {
  if (performance.now() + 2000 * seconds + spareMs > wholeMs) {
    left += 1;
    console.error(`${attack.name} had no time`);
    continue;
  }
  const judged = await judge(attack);
  const row = tableRow(judged);
  const bars = missedBars(judged);
  if (bars.length > 0) {
    missed.push(`${attack.name}: ${bars.join(", ")}`);
  }
  lines.push(row);
  console.log(row);
}
endConnections();
if (values.write && left === 0) {
  writeFileSync(page, replaceTable(readFileSync(page, "utf8"), lines));
  console.error("docs/security-tests.md has the table; npm run format aligns it");
}
console.error(missed.length === 0 ? "every bar is held" : `bars are missed:\n${missed.join("\n")}`);
process.exitCode = missed.length + left > 0 ? 1 : 0;
