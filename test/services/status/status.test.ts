import { expect, test } from "@jest/globals";
import { type Dependencies, Status } from "#src/services/status/status.ts";
import { kinds } from "#src/services/status/trouble.ts";
import { troubleKinds } from "../../../console/pages/service/overview/operator/trouble-kinds.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { errorLogger } from "../../support/loggers.ts";

function open(parts: Partial<Dependencies> = {}) {
  const clock = Object.assign(new ManualClock(), { agrees: true });
  const status = new Status({
    models: () => [],
    servers: () => [],
    lastProof: () => undefined,
    admits: () => true,
    findStored: async () => [],
    findOnMachine: async () => [],
    ...{ clock, logger: errorLogger },
    ...parts,
  });
  return { clock, status };
}

test("a trouble is told since it was first seen, and no longer than it lasts", async () => {
  const models: { id: string }[] = [{ id: "m" }];
  const { clock, status } = open({ models: () => models });
  const since = clock.now();
  await status.look();
  clock.advance(3000);
  expect(status.read()).toMatchObject([{ what: "no_server", model: "m", since }]);
  models.pop();
  expect(status.read()).toEqual([]);
});

test("books that failed or are old, a ledger that takes nothing and clocks apart are told, what clients notice first", () => {
  let proof = { at: 0, ok: false };
  const { clock, status } = open({ lastProof: () => proof, admits: () => false });
  clock.agrees = false;
  expect(status.read().map(({ what }) => what)).toEqual(["database", "books_failed", "clocks_apart"]);
  proof = { at: clock.now() - 4 * 3_600_000, ok: true };
  expect(status.read().map(({ what }) => what)).toEqual(["database", "books_old", "clocks_apart"]);
  proof = { at: clock.now() - 3_600_000, ok: true };
  expect(status.read().map(({ what }) => what)).toEqual(["database", "clocks_apart"]);
});

test("a database that cannot be asked is told once", async () => {
  const { status } = open({ admits: () => false, findStored: () => Promise.reject(new Error("gone")) });
  await status.look();
  expect(status.read()).toMatchObject([{ what: "database", reason: "The database cannot be asked at the moment." }]);
});

test("every kind of trouble has words of its own in the console, and the page that mends it or what to do", () => {
  expect(Object.keys(troubleKinds).sort()).toEqual([...kinds].sort());
  const leads = Object.groupBy(Object.entries(troubleKinds), ([, { page }]) => page ?? "none");
  const kindsOf = (page: string) => leads[page]?.map(([kind]) => kind);
  // Settings have the webhooks. What no page can mend says itself what to do.
  expect(kindsOf("/settings")).toEqual(["webhooks_not_taken"]);
  expect(kindsOf("none")?.filter((kind) => !troubleKinds[kind]?.advice?.endsWith("."))).toEqual([]);
});
