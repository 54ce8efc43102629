import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { afterEach, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { MarginSpan, StreamMarginsRequestSchema } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { PricedServer } from "#lib/money/server-costs.ts";
import { createMarginService } from "#src/services/metering/margin-service.ts";
import { type Metering, openMetering, request, run, testModel, usd } from "../../money/fixture.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const clock = new ManualClock();
const opened: Metering[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((metering) => clock.until(metering.close())));
});

const context = {} as HandlerContext;

async function openCharged() {
  const metering = await openMetering({ clock });
  opened.push(metering);
  for (let each = 0; each < 2; each++) {
    const account = await metering.account({ paid: usd });
    await clock.until(run(metering.ledger, request(account, { inputTokens: 10, outputTokens: 40 })));
  }
  return metering;
}

/** The margins of two accounts with a request of 50 tokens each, on these servers. */
async function ask(servers: readonly PricedServer[], asked: object = {}, began = 0) {
  const metering = opened[0] ?? (await openCharged());
  clock.advance(1); // what is charged now is not before now
  const readBeginning = async () => began;
  const service = createMarginService({ storage: metering.storage, servers: () => servers, readBeginning, clock });
  const margins = [];
  for await (const piece of service.streamMargins(create(StreamMarginsRequestSchema, asked), context)) {
    margins.push(...(piece.margins ?? []));
  }
  return margins;
}

const priced: readonly PricedServer[] = [
  { url: "http://a", model: testModel, picoUsdPerHour: 2_000_000_000n },
  { url: "http://a", model: "another", picoUsdPerHour: 2_000_000_000n },
];

test("a model's margin of a day is exact: what it earned of all accounts less its part of a server", async () => {
  const margins = await ask(priced);
  expect(margins).toMatchObject([
    { model: "another", hour: "", day: "", revenuePicoUsd: "0", costPicoUsd: "24000000000" },
    { model: testModel, costPicoUsd: "24000000000" },
  ]);
  const revenue = BigInt(margins[1]?.revenuePicoUsd ?? "");
  expect(revenue).toBeGreaterThan(0n);
  expect(margins.map(({ marginPicoUsd }) => marginPicoUsd)).toEqual([
    "-24000000000",
    String(revenue - 24_000_000_000n),
  ]);
});

test("servers cost nothing before the service began", async () => {
  await ask(priced);
  const margins = await ask(priced, {}, clock.now() + 1 - 3_600_000);
  expect(margins.map(({ costPicoUsd }) => costPicoUsd)).toEqual(["1000000000", "1000000000"]);
  const hours = await ask(priced, { by: MarginSpan.HOUR }, clock.now() + 1);
  expect(new Set(hours.map(({ costPicoUsd }) => costPicoUsd))).toEqual(new Set(["0"]));
});

test("hours are kept apart, those without a request among them, and come to the same", async () => {
  const to = new Date(Math.ceil((clock.now() + 1) / 3_600_000) * 3_600_000);
  const from = new Date(to.getTime() - 3 * 3_600_000);
  const whole = { from: timestampFromDate(from), to: timestampFromDate(to) };
  const hours = (await ask(priced, { ...whole, by: MarginSpan.HOUR })).filter(({ model }) => model === testModel);
  expect(hours.map(({ hour }) => hour)).toEqual(
    [3, 2, 1].map((before) => new Date(to.getTime() - before * 3_600_000).toISOString().replace(".000Z", "Z")),
  );
  expect(hours.map(({ costPicoUsd }) => costPicoUsd)).toEqual(Array(3).fill("1000000000"));
  const total = (await ask(priced, whole)).find(({ model }) => model === testModel);
  const sum = (name: "revenuePicoUsd" | "marginPicoUsd") =>
    hours.reduce((all, margin) => all + BigInt(margin[name] ?? ""), 0n);
  expect([String(sum("revenuePicoUsd")), String(sum("marginPicoUsd"))]).toEqual([
    total?.revenuePicoUsd,
    total?.marginPicoUsd,
  ]);
});

test("without a price neither cost nor margin are told", async () => {
  const margins = await ask([{ url: "http://a", model: testModel }]);
  expect(margins).toHaveLength(1);
  expect(margins[0]).not.toHaveProperty("costPicoUsd");
  expect(margins[0]).not.toHaveProperty("marginPicoUsd");
});

test.each([
  ["from is not before to", { from: timestampFromDate(new Date(1000)), to: timestampFromDate(new Date(1000)) }],
  ["there are too many hours", { from: timestampFromDate(new Date(0)), by: MarginSpan.HOUR }],
])("it is refused where %s", async (_, asked) => {
  const refused = await ask(priced, asked).catch(readDetail);
  expect(refused).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "from" });
});
