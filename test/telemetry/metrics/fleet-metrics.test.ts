import { expect, test } from "@jest/globals";
import { Registry } from "prom-client";
import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { fleetMetrics } from "#src/telemetry/metrics/fleet-metrics.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const minute = 60_000;

test("what was counted of a server is shown for an hour after it left, unless it came back", async () => {
  const registry = new Registry();
  const clock = new ManualClock();
  const servers = [{ id: "stays", model: "m" } as Server];
  const observer = fleetMetrics(registry, clock, () => servers);
  const count = (server: string) => {
    observer.failed(server, "m");
    observer.implausible(server, "m");
    observer.firstToken(server, "m", 100, 120);
  };
  const lines = async (server: string) =>
    (await registry.metrics()).split("\n").filter((line) => line.includes(`server="${server}"`)).length;
  count("goes");
  count("stays");
  observer.failed("goes", "other");
  const all = await lines("stays");
  observer.left("goes", "m");
  observer.left("stays", "m");
  clock.advance(59 * minute);
  expect([await lines("goes"), await lines("stays")]).toEqual([all + 1, all]);
  clock.advance(2 * minute);
  expect([await lines("goes"), await lines("stays")]).toEqual([1, all]);
  observer.firstToken("goes", "m", 100, 120);
  expect(await registry.metrics()).toContain(`tollgate_first_token_error_seconds_count{server="goes",model="m"} 1`);
});
