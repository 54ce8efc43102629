import type { Mutation } from "./mutation.ts";
import { isNoticed, type Noticed } from "./results.ts";

/** Whether nothing noticed a mutation that something should. */
export const isMissed = ({ equivalent }: Mutation, found: Noticed): boolean =>
  !isNoticed(found) && equivalent === undefined;

/** A line that says who noticed a mutation. */
export function tell(mutation: Mutation, found: Noticed): string {
  const { test, judge, worlds } = found;
  const byJudge = judge === undefined ? `no judge in ${worlds} worlds` : `${judge}, world ${worlds}`;
  const missed = isMissed(mutation, found) ? "MISSED " : "";
  return `${missed}${mutation.name} | ${test ?? "no test"} | ${byJudge}`;
}

/** A table of who noticed what, and figures: of mutations that worlds live, how many they notice alone. */
export function sumUp(noticed: ReadonlyMap<Mutation, Noticed>): string {
  const all = [...noticed];
  const count = (is: (mutation: Mutation, found: Noticed) => boolean) => all.filter((one) => is(...one)).length;
  const lived = count(({ equivalent, worlds }) => equivalent === undefined && worlds?.length !== 0);
  const byWorlds = count((_, { judge }) => judge !== undefined);
  const share = lived === 0 ? 0 : Math.round((1000 * byWorlds) / lived) / 10;
  return [
    "mutation | test | judge",
    ...all.map((one) => tell(...one)),
    `${all.length} mutations, ${count(isMissed)} missed`,
    `${count((_, { test }) => test !== undefined)} noticed by tests`,
    `${byWorlds} of ${lived} noticed by worlds alone: ${share} %; no world lives the texts of ${count(({ worlds }) => worlds?.length === 0)}`,
    `${count(({ equivalent }) => equivalent !== undefined)} equivalent`,
  ].join("\n");
}
