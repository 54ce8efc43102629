import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { type BoundName, boundNames, type ListenerName, listenerNames } from "#lib/door/bounds.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { eventually } from "../support/eventually.ts";
import { attacks } from "./doors/attacks.ts";
import { startListener } from "./doors/listeners.ts";

// Every listener has every bound: walked over the real wire, and compared with the table of docs/operations.md.

/**
 * gRPC's library bounds heads and streams itself, and ends a call's body with its answer. On the payments' port nothing
 * but a signature gets an answer that is no refusal.
 */
const without: readonly string[] = ["grpc head", "grpc pipeline", "grpc unwanted", "payments uncounted"];

describe.each(listenerNames)("the listener %s", (name) => {
  test.each(Object.keys(attacks) as BoundName[])("has the bound %s, and counts it", async (bound) => {
    const found = attacks[bound];
    if (found === undefined || without.includes(`${name} ${bound}`)) {
      return;
    }
    const clock = new ManualClock();
    const started = await startListener(name, { ...found.options, clock });
    await found.attack(started, clock);
    await eventually("it is counted", () => started.refused.includes(`${name} ${bound}`));
  });
});

const floods = (of: string) => `test/facades/http/floods/${of}.test.ts`;
const calls = "test/wire/grpc/server/door-bounds.test.ts";
const readers = "test/wire/grpc/server/slow-readers.test.ts";
const http = "test/lib/door/http-server.test.ts";
const program = "test/attack/attacks.ts";

/** The tests that reach and count the bounds that are not walked here: they take a listener's own handler. */
const reachedBy: Partial<Record<BoundName, Partial<Record<ListenerName, string>>>> = {
  requests_per_address: { public: floods("connections") },
  calls: { console: calls, connect: calls, grpc: calls },
  rate: { public: program, console: program, connect: calls, grpc: calls },
  credentials: { public: program, console: program, connect: calls, grpc: calls },
  bodies: { public: floods("bodies"), console: calls, connect: calls, grpc: calls, payments: calls },
  slow_body: { public: floods("bodies"), console: calls, connect: calls, grpc: calls, payments: calls },
  slow_reader: {
    ...{ public: floods("unread-answers"), console: readers, connect: readers, grpc: readers },
    ...{ payments: calls, admin: http, docs: http },
  },
  overload: { public: floods("overload") },
};

test("nothing listens but through a door", () => {
  const listening = globSync(["lib/**/*.ts", "src/**/*.ts", "facades/**/*.ts"], {
    exclude: ["simulator/**", "lib/door/**"],
  })
    .filter((path) => /\bcreate(Secure)?Server\b|net\/listen\.ts"/.test(readFileSync(path, "utf8")))
    .toSorted();
  // gRPC's library takes the connections that its listener has let in, a claim closes each. The others try whether an address is free.
  expect(listening).toEqual([
    "lib/net/port-claim.ts",
    "src/cli/check/findings/listen.ts",
    "src/compose/process/taken-port.ts",
    "src/wire/grpc/server/server.ts",
  ]);
});

test("the table in docs/operations.md has every listener and every bound", () => {
  const [, table = ""] =
    /## Floods[\s\S]*?\n(\| bound[\s\S]*?)\n\n/.exec(readFileSync("docs/operations.md", "utf8")) ?? [];
  const rows = table.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const [head = [], , ...body] = rows;
  expect(head).toEqual(["bound", ...listenerNames]);
  expect(body.map(([bound]) => bound)).toEqual(boundNames.map((bound) => `\`${bound}\``));
  for (const bound of Object.keys(attacks)) {
    const cells = body.find(([first]) => first === `\`${bound}\``)?.slice(1) ?? [];
    const unbounded = listenerNames.filter((_, at) => cells[at] === "–");
    expect([bound, unbounded]).toEqual([bound, listenerNames.filter((name) => without.includes(`${name} ${bound}`))]);
  }
  for (const bound of boundNames.filter((name) => attacks[name] === undefined)) {
    const cells = body.find(([first]) => first === `\`${bound}\``)?.slice(1) ?? [];
    const bounded = listenerNames.filter((_, at) => cells[at] !== "–");
    expect([bound, Object.keys(reachedBy[bound] ?? {}).toSorted()]).toEqual([bound, bounded.toSorted()]);
    for (const file of Object.values(reachedBy[bound] ?? {})) {
      expect(readFileSync(file, "utf8")).toMatch(new RegExp(`\\b${bound}\\b`));
    }
  }
});
