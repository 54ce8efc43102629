import { expect, test } from "@jest/globals";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { startDoor } from "../../support/door.ts";
import { databases } from "../databases.ts";
import { never, openMetering, request, usd } from "../fixture.ts";

const newDatabase = databases();
const tokens = { inputTokens: 10, outputTokens: 10 };

test("while the database is away each kind of work says so once, and once that it is back", async () => {
  const clock = new ManualClock(Date.now());
  const door = await startDoor(await newDatabase("postgresql"));
  const log: string[] = [];
  const metering = await openMetering({ clock, url: door.url, log });
  const account = await metering.account({ paid: 100 * usd });
  const strangers = await Promise.all(Array.from({ length: 5 }, () => metering.account({ paid: usd })));
  const holds = await Promise.all(
    Array.from({ length: 20 }, () => clock.until(metering.ledger.hold(request(account, tokens), never))),
  );
  log.length = 0;
  await door.shut();
  const settled = holds.map(async (hold) => {
    await clock.pass(100);
    await hold.settle(tokens, "completed");
  });
  for (let second = 0; second < 40; second++) {
    for (const stranger of strangers) {
      await clock.until(metering.ledger.hold(request(stranger, tokens), never).catch(() => {}));
    }
    await clock.pass(1000);
  }
  await door.open();
  await clock.until(Promise.all(settled));
  await clock.pass(120_000);
  for (const stranger of strangers) {
    await clock.until(metering.ledger.hold(request(stranger, tokens), never)); // which asks the store
  }
  const told = Map.groupBy(log, (line) => line.split(" {")[0]);
  expect([...told].filter(([, all]) => all.length > 3).map(([line, all]) => `${line}: ${all.length}`)).toEqual([]);
  expect(told.get("the store takes settlements again")).toHaveLength(1);
  expect(told.get("this core can say that it is alive again")).toHaveLength(1);
  expect(told.get("the store can be asked again")).toHaveLength(1);
  await clock.until(metering.close());
  await door.shut();
}, 120_000);
