import { beforeEach, expect, test } from "@jest/globals";
import { Outage } from "#lib/errors/outage.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";

let lines: unknown[];
let outage: Outage;
let clock: ManualClock;
beforeEach(() => {
  lines = [];
  clock = new ManualClock();
  const logger = {
    ...silentLogger,
    info: (fields: object, message: string) => void lines.push(["info", fields, message]),
    error: (fields: object, message: string) => void lines.push(["error", fields, message]),
  };
  outage = new Outage({ logger, clock }, "it failed", "it works again");
});

test("an outage is told once with its first error, and once that it is over", () => {
  const [first, second] = [new Error("away"), new Error("away")];
  outage.succeeded();
  outage.failed(first, { charges: 3 });
  outage.failed(second, { charges: 4 });
  outage.succeeded();
  outage.succeeded();
  expect(lines).toEqual([
    ["error", { error: first, charges: 3 }, "it failed"],
    ["info", {}, "it works again"],
  ]);
  outage.failed(second);
  expect(lines.slice(2)).toEqual([["error", { error: second }, "it failed"]]);
});

test("each kind of error is told once in an outage, by its text and its code; one that never reads the same, ten times", () => {
  const refused = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
  const silent = Object.assign(new AggregateError([]), { code: "ETIMEDOUT" });
  for (const error of [refused, silent, refused, silent, "a text", "a text"]) {
    outage.failed(error);
  }
  expect(lines).toHaveLength(3);
  for (let at = 0; at < 100; at++) {
    outage.failed(new Error(`${at} rows`));
  }
  expect(lines).toHaveLength(10);
});

test("work whose success proves nothing tells only of failures", () => {
  const lasting = new Outage(
    { logger: { ...silentLogger, error: (_, text) => void lines.push(text) }, clock },
    "it failed",
  );
  lasting.failed("away");
  lasting.succeeded();
  lasting.failed("away");
  expect(lines).toEqual(["it failed"]);
});

test("an outage of days is told anew each hour, so that the end of a log shows it", () => {
  for (let minute = 0; minute < 180; minute++) {
    outage.failed("away");
    clock.advance(60_000);
  }
  expect(lines).toHaveLength(3);
});
