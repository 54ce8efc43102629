import { createClient } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { PriceReason } from "#gen/tollgate/metering/v1/price_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { createPricesService } from "#src/services/metering/prices-service.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { databases, dialects } from "../../money/databases.ts";
import { models, openMetering, request, run, testModel, usd } from "../../money/fixture.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const newDatabase = databases();

const reasonOf = async (call: () => Promise<unknown>) =>
  call().then(
    () => undefined,
    (error: unknown) => readDetail(error)?.reason,
  );

describe.each(dialects)("%s", (dialect) => {
  test("prices are listed, set, pinned and remembered", async () => {
    const clock = new ManualClock(Date.UTC(2026, 4, 1, 23, 59, 0));
    const embedding = { id: "embed", kind: "embedding", price: { input: "0.01" } };
    const metering = await openMetering({ clock, url: await newDatabase(dialect), models: models(embedding) });
    const service = createClient(
      PricesService,
      createDirectTransport([registration(PricesService, createPricesService(metering.prices, metering.storage))], []),
    );
    const listed = await service.listPrices({});
    expect(listed.prices).toMatchObject([
      {
        model: testModel,
        inputPicoUsdPerToken: 200_000n,
        outputPicoUsdPerToken: 250_000n,
        pinned: false,
        version: "1",
      },
      { model: "embed", inputPicoUsdPerToken: 10_000n, outputPicoUsdPerToken: 0n },
    ]);
    await clock.advanceAsync(1000);
    const rates = { inputPicoUsdPerToken: 300_000n, outputPicoUsdPerToken: 400_000n };
    await service.setPrice({ model: testModel, ...rates });
    expect(metering.prices.live(testModel)).toEqual({ input: 300_000, output: 400_000 });
    const pin = { model: testModel, inputPicoUsdPerToken: 350_000n };
    expect(await service.pinPrice(pin)).toMatchObject({
      price: {
        inputPicoUsdPerToken: 350_000n,
        outputPicoUsdPerToken: 400_000n,
        baseInputPicoUsdPerToken: 300_000n,
        pinned: true,
      },
    });
    await metering.prices.move(new Date(metering.time.now()), ({ model }) =>
      model === testModel ? { input: 1, output: 1, utilisation: 1 } : undefined,
    );
    expect(metering.prices.live(testModel)).toEqual({ input: 350_000, output: 400_000 });
    expect(await service.unpinPrice({ model: testModel })).toMatchObject({
      price: { inputPicoUsdPerToken: 350_000n, pinned: false },
    });
    const { prices: history } = await service.listPriceHistory({ model: testModel, pageSize: 0, pageToken: "" });
    expect(
      history?.map(({ version, inputPicoUsdPerToken, pinned, reason }) => [
        ...[version, inputPicoUsdPerToken, pinned],
        PriceReason[reason],
      ]),
    ).toEqual([
      ["4", 350_000n, false, "UNPINNED"],
      ["3", 350_000n, true, "PINNED"],
      ["2", 300_000n, false, "SET"],
      ["1", 200_000n, false, "CONFIGURED"],
    ]);
    const page = async (fields: { pageSize: number; pageToken: string }) =>
      service.listPriceHistory({ model: testModel, ...fields });
    const first = await page({ pageSize: 3, pageToken: "" });
    expect(first.prices.map(({ version }) => version)).toEqual(["4", "3", "2"]);
    const second = await page({ pageSize: 3, pageToken: first.nextPageToken });
    expect([second.prices?.length, second.nextPageToken]).toEqual([1, ""]);
    for (const pageToken of ["0", "x", "1e3", " 2"]) {
      expect(await reasonOf(() => page({ pageSize: 3, pageToken }))).toBe(Reason.INVALID_ARGUMENT);
    }
    const refused = [
      { model: "unknown", ...rates },
      { model: testModel, inputPicoUsdPerToken: -1n, outputPicoUsdPerToken: 1n },
      { model: testModel, inputPicoUsdPerToken: 2n ** 40n, outputPicoUsdPerToken: 1n },
      { model: "embed", inputPicoUsdPerToken: 1n, outputPicoUsdPerToken: 1n },
    ];
    const reasons = [];
    for (const price of refused) {
      reasons.push(await reasonOf(() => service.setPrice(price)));
    }
    expect(reasons).toEqual([Reason.MODEL_NOT_FOUND, ...Array(3).fill(Reason.INVALID_ARGUMENT)]);
    await service.setPrice({ model: testModel, inputPicoUsdPerToken: 310_000n }); // its base of output stays
    expect(metering.prices.live(testModel)).toEqual({ input: 310_000, output: 400_000 });
    await clock.until(metering.close());
  });

  test("what unspent money pays is told by price, also while cores have leased and spent some of it", async () => {
    const clock = new ManualClock(Date.UTC(2026, 4, 1, 12, 0, 0));
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const service = createClient(
      PricesService,
      createDirectTransport([registration(PricesService, createPricesService(metering.prices, metering.storage))], []),
    );
    expect((await service.listPaidPrices({ model: testModel })).paidPrices).toEqual([]);
    const account = await metering.account({ paid: usd });
    await metering.prices.set(testModel, { input: 500_000, output: 600_000 });
    await metering.account({ paid: usd });
    await metering.account({ free: 5, paid: usd });
    await clock.until(run(metering.ledger, request(account, { inputTokens: 10, outputTokens: 20 })));
    const { paidPrices } = await service.listPaidPrices({ model: testModel });
    expect(paidPrices).toMatchObject([
      { inputPicoUsdPerToken: 500_000n, outputPicoUsdPerToken: 600_000n, lots: 3n },
      { inputPicoUsdPerToken: 200_000n, outputPicoUsdPerToken: 250_000n, lots: 1n },
    ]);
    expect(paidPrices.map(({ unspentPicoUsd }) => unspentPicoUsd)).toEqual([
      String(2 * usd + 5),
      String(usd - 10 * 200_000 - 20 * 250_000),
    ]);
    expect(await reasonOf(() => service.listPaidPrices({ model: "unknown" }))).toBe(Reason.MODEL_NOT_FOUND);
    await clock.until(metering.close());
  });
});
