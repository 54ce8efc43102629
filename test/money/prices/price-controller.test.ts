import { describe, expect, test } from "@jest/globals";
import { createPriceController, multipleAt } from "#src/money/prices/price-controller.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { models, openMetering, testModel } from "../fixture.ts";

test.each([
  [0, 0.5],
  [0.35, 0.75],
  [0.7, 1],
  [0.85, 1.5],
  [1, 2],
  [3, 2],
  [-1, 0.5],
])("at a utilisation of %d the price is %d times its base", (utilisation, multiple) => {
  expect(multipleAt(utilisation, { floor: 0.5, ceiling: 2 })).toBeCloseTo(multiple, 6);
});

describe("a moving price", () => {
  const start = async (price: { falls_when_idle?: boolean } = {}) => {
    const clock = new ManualClock(Date.now());
    const moving = models({
      id: "moving",
      price: { input: "0.20", output: "0.40", floor: 0.5, ceiling: 2, ...price },
    });
    const metering = await openMetering({ clock, models: moving });
    let utilisation = 0.7;
    const parts = { models: () => moving, maxStep: 0.05, intervalMs: 60_000, clock, utilisation: () => utilisation };
    const move = createPriceController({ ...parts, prices: metering.prices });
    const minute = async (use: number) => {
      utilisation = use;
      await clock.advanceAsync(60_000);
      await move();
      return metering.prices.live("moving");
    };
    return { clock, metering, minute, move };
  };

  test("climbs in bounded steps to the ceiling and sinks to the floor; a fixed one stands still", async () => {
    const { clock, metering, minute } = await start({ falls_when_idle: true });
    expect(await minute(0.7)).toEqual({ input: 200_000, output: 400_000 });
    expect(await minute(1)).toEqual({ input: 210_000, output: 420_000 });
    expect(await minute(1)).toEqual({ input: 220_500, output: 441_000 });
    const [newest] = await metering.prices.history("moving", { limit: 1 });
    expect(newest).toMatchObject({ reason: "moved", utilisation: 1 });
    for (let times = 0; times < 20; times++) {
      await minute(1);
    }
    expect(metering.prices.live("moving")).toEqual({ input: 400_000, output: 800_000 });
    for (let times = 0; times < 60; times++) {
      await minute(0);
    }
    const { input, output } = metering.prices.live("moving");
    expect(input).toBeGreaterThanOrEqual(100_000);
    expect(input).toBeLessThanOrEqual(101_100);
    expect(output).toBeLessThanOrEqual(202_200);
    expect(metering.prices.live(testModel)).toEqual({ input: 200_000, output: 250_000 });
    await clock.until(metering.close());
  });

  test("falls only while there is traffic, unless it is told to fall when idle", async () => {
    const { clock, metering, minute } = await start();
    expect(await minute(0)).toEqual({ input: 200_000, output: 400_000 });
    expect(await metering.prices.history("moving", { limit: 10 })).toHaveLength(1);
    expect(await minute(0.01)).toEqual({ input: 190_000, output: 380_000 });
    expect(await minute(0)).toEqual({ input: 190_000, output: 380_000 });
    await clock.until(metering.close());
  });

  test("makes no version for a trifle, nor twice in an interval", async () => {
    const { clock, metering, minute, move } = await start();
    await minute(0.701);
    expect(await metering.prices.history("moving", { limit: 10 })).toHaveLength(1);
    await minute(1);
    const versions = async () => (await metering.prices.history("moving", { limit: 10 })).length;
    for (const [second, moved] of [
      [0, 2],
      [20, 2],
      [40, 2],
      [60, 3],
    ]) {
      await move(); // of several cores, each at its own second
      expect([second, await versions()]).toEqual([second, moved]);
      await clock.advanceAsync(20_000);
    }
    await clock.until(metering.close());
  });

  test("stands still while pinned, and starts from a price that was set", async () => {
    const { clock, metering, minute } = await start();
    await metering.prices.pin("moving", {});
    expect(await minute(1)).toEqual({ input: 200_000, output: 400_000 });
    await metering.prices.unpin("moving");
    expect(await minute(1)).toEqual({ input: 210_000, output: 420_000 });
    await metering.prices.set("moving", { input: 1_000_000, output: 1_000_000 });
    expect(await minute(1)).toEqual({ input: 1_050_000, output: 1_050_000 });
    await clock.until(metering.close());
  });
});
