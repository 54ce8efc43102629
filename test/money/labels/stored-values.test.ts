import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import type { UsedValue } from "#src/money/labels/day-values.ts";
import { attendLabels, readValues, removeSums } from "#src/money/labels/stored-values.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { UsageLabel } from "#src/storage/entities/metering/rollup.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";
import { databases, dialects } from "../databases.ts";

const newDatabase = databases();
const hourMs = 3_600_000;
const day = 20_600;
const account = v7();

const chargeAt = (hour: number, app: string): Charge => ({
  ...{ requestId: v7(), runId: v7(), accountId: account, keyId: "", model: "m", inputTokens: 1, outputTokens: 1 },
  ...{ cost: 0, shortfall: 0, status: "completed", settledAt: (day * 24 + hour) * hourMs + 1, lines: [] },
  labels: JSON.stringify({ app }),
});

describe.each(dialects)("%s", (dialect) => {
  test("a core learns today's values of other cores, and sums leave after their time", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const store = createLedgerStore(storage, systemRandom, v7());
    const charges = [-48, -1, 0, 5, 5, 6].map((hour) => chargeAt(hour, `at ${hour}`));
    await store.settle(charges);
    const other = createLedgerStore(storage, systemRandom, v7());
    await other.settle([chargeAt(5, "at 5")]); // the same value, of another core
    await other.settle([chargeAt(6, "other")]); // takes no value's place
    const learned: UsedValue[] = [];
    const clock = new ManualClock((day * 24 + 6) * hourMs);
    const labels = { learn: (values: readonly UsedValue[]) => void learned.push(...values) };
    const stop = attendLabels({ storage, clock, logger: silentLogger, labels, keepDays: 1 });
    const valuesOf = (used: readonly UsedValue[]) => used.map(({ value }) => value).sort();
    await clock.pass(1);
    await eventually("today's values are learned", () => learned.length >= 3);
    expect(valuesOf(learned)).toEqual(["at 0", "at 5", "at 6"]);
    expect(learned[0]).toEqual({ accountId: account, name: "app", value: expect.any(String) });
    learned.length = 0;
    await clock.pass(30_000);
    if (dialect === "postgresql") {
      await eventually("those of the last hour are learned again", () => learned.length >= 2);
      expect(valuesOf(learned)).toEqual(["at 5", "at 6"]);
    }

    const left = async () => (await storage.orm.em.fork().find(UsageLabel, {})).map(({ value }) => value).sort();
    expect(await left()).toHaveLength(7);
    clock.advance(600_000);
    await eventually("the sums of the day before yesterday are gone", async () => (await left()).length === 6);
    expect(await left()).not.toContain("at -48");
    stop();
    expect(learned.length > 0).toBe(dialect === "postgresql"); // no other core has a file's values
    expect(await removeSums(storage, (day + 1) * 24)).toBe(6);
    expect(await removeSums(storage, (day + 1) * 24)).toBe(0);
    expect(await readValues(storage, 0)).toEqual([]);
    await Promise.all([store.end(), other.end()]);
    await storage.close();
  });

  test("after midnight no value of yesterday is learned", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const store = createLedgerStore(storage, systemRandom, v7());
    await store.settle([chargeAt(22, "at 22"), chargeAt(23, "at 23")]);
    const learned: (readonly string[])[] = [];
    const clock = new ManualClock((day + 1) * 24 * hourMs - 20_000);
    const labels = {
      learn: (values: readonly UsedValue[]) => void learned.push(values.map(({ value }) => value).sort()),
    };
    const stop = attendLabels({ storage, clock, logger: silentLogger, labels, keepDays: 1 });
    await clock.pass(1);
    await eventually("today's values are learned", () => learned.length === 1);
    if (dialect === "postgresql") {
      await store.settle([chargeAt(24, "at 0")]);
      await clock.pass(30_000);
      await eventually("values are learned again", () => learned.length === 2);
    }
    expect(learned).toEqual([["at 22", "at 23"], ["at 0"]].slice(0, dialect === "postgresql" ? 2 : 1));
    stop();
    await store.end();
    await storage.close();
  });
});
