import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { TalliedHistogram } from "#src/telemetry/tallies/histogram.ts";

const options = { name: "wait_seconds", help: "Waits.", labelNames: ["server", "model"] as const };
const buckets = [0.01, 0.5, 1, 30];

/** Without what says that there are no exemplars, which prom-client writes beside each bucket. */
const json = async (registry: Registry) =>
  JSON.parse(
    JSON.stringify(await registry.getMetricsAsJSON(), (key, value) => (key === "exemplar" ? undefined : value)),
  );

test("shows what prom-client shows, in text and in JSON, whatever is observed", async () => {
  const value = fc.oneof(fc.constantFrom(0, ...buckets, 31), fc.double({ min: 0, max: 100, noNaN: true }));
  const observation = fc.tuple(value, fc.constantFrom("a", "b"), fc.constantFrom("m", "n"));
  await fc.assert(
    fc.asyncProperty(fc.array(observation), async (observations) => {
      const [tallied, plain] = [new Registry(), new Registry()];
      const histogram = new TalliedHistogram({ ...options, buckets, registers: [tallied] });
      const reference = new Histogram({
        ...options,
        ...{ buckets, labelNames: [...options.labelNames], registers: [plain] },
      });
      for (const [seconds, server, model] of observations) {
        histogram.observe(seconds, server, model);
        reference.observe({ server, model }, seconds);
      }
      expect(await json(tallied)).toEqual(await json(plain));
      expect(await tallied.metrics()).toBe(await plain.metrics());
    }),
    { numRuns: 50 },
  );
});
