import { expect, test } from "@jest/globals";
import { Counter, Registry } from "prom-client";
import { TalliedCounter } from "#src/telemetry/tallies/counter.ts";

const options = { name: "answers_total", help: "Answers.", labelNames: ["model", "kind"] as const };

test("shows what prom-client shows, in text and in JSON, also when it is read again", async () => {
  const [tallied, plain] = [new Registry(), new Registry()];
  const counter = new TalliedCounter({ ...options, registers: [tallied] });
  const reference = new Counter({ ...options, labelNames: [...options.labelNames], registers: [plain] });
  for (let scrape = 0; scrape < 3; scrape++) {
    for (const [model, kind, amount] of [
      ["a", "input", 3],
      ["b", "input", 0],
      ["a", "output", 0.5],
      ["a", "input", 4],
    ] as const) {
      counter.add(amount, model, kind);
      reference.inc({ model, kind }, amount);
    }
    expect(await tallied.metrics()).toBe(await plain.metrics());
    expect(await tallied.getMetricsAsJSON()).toEqual(await plain.getMetricsAsJSON());
  }
});

test("tells a number from the text of it, as a status is given", async () => {
  const registry = new Registry();
  const counter = new TalliedCounter({ ...options, labelNames: ["status"], registers: [registry] });
  counter.add(1, 200);
  counter.add(1, 200);
  expect(await registry.metrics()).toContain('answers_total{status="200"} 2');
});
