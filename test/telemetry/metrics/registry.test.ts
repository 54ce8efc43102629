import { expect, test } from "@jest/globals";
import { createRegistry } from "#src/telemetry/metrics/registry.ts";

test("only counters have the ending of counters, as promtool wants it", async () => {
  const metrics = await createRegistry({ ready: true }).getMetricsAsJSON();
  const counters = metrics.filter(({ type }) => String(type) === "counter").map(({ name }) => name);
  const named = metrics.map(({ name }) => name).filter((name) => name.endsWith("_total"));
  expect(named).toEqual(counters);
  expect(metrics.map(({ name }) => name)).toEqual(expect.arrayContaining(["tollgate_ready", "nodejs_active_handles"]));
});
