import { describe, expect, test } from "@jest/globals";
import { readPriceDays } from "#src/money/prices/price-days.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../databases.ts";
import { models, openMetering, testModel } from "../fixture.ts";

const newDatabase = databases();
const dayMs = 86_400_000;

describe.each(dialects)("%s", (dialect) => {
  test("each of the last thirty days has the price of its end, from the day on which the model had one", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect), models: models({ id: "other" }) });
    const { storage, prices, time } = metering;
    const read = () => readPriceDays(storage, [testModel, "other", "unknown"], time.now());
    try {
      expect((await read()).map(({ days }) => days.length)).toEqual([1, 1, 0]);
      clock.advance(2 * dayMs);
      await prices.set(testModel, { input: 300_000, output: 400_000 });
      await prices.set(testModel, { input: 310_000, output: 410_000 });
      clock.advance(dayMs);
      await prices.set("other", { input: 1, output: 2 });
      const [plain, other] = await read();
      expect(plain?.days.map(({ input }) => input)).toEqual([200_000, 200_000, 310_000, 310_000]);
      expect(other?.days.map(({ output }) => output)).toEqual([250_000, 250_000, 250_000, 2]);
      expect(plain?.days.at(-1)?.date).toBe(new Date(time.now()).toISOString().slice(0, 10));
      clock.advance(40 * dayMs);
      const [later] = await read();
      expect(later?.days.map(({ input }) => input)).toEqual(Array(30).fill(310_000));
    } finally {
      await clock.until(metering.close());
    }
  });
});
