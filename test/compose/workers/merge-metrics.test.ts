import { expect, test } from "@jest/globals";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { mergeMetrics } from "../../../src/compose/workers/merge-metrics.ts";

async function pageOf(worker: string, requests: number): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  const registers = [registry];
  new Counter({ name: "requests_total", help: "Requests.", labelNames: ["status"], registers }).inc(
    { status: "a\n# TYPE b" },
    requests,
  );
  new Histogram({ name: "seconds", help: "Time.", buckets: [1], registers }).observe(2);
  if (worker === "2") {
    new Gauge({ name: "only_here", help: "Of one alone.", registers }).set(7);
  }
  return registry.metrics();
}

test("describes a metric once, with the samples of all processes behind it", async () => {
  const merged = mergeMetrics([await pageOf("1", 3), await pageOf("2", 4)]);
  expect(merged.split("\n")).toEqual([
    "# HELP requests_total Requests.",
    "# TYPE requests_total counter",
    'requests_total{status="a\\n# TYPE b",worker="1"} 3',
    'requests_total{status="a\\n# TYPE b",worker="2"} 4',
    "# HELP seconds Time.",
    "# TYPE seconds histogram",
    ...["1", "2"].flatMap((worker) => [
      `seconds_bucket{le="1",worker="${worker}"} 0`,
      `seconds_bucket{le="+Inf",worker="${worker}"} 1`,
      `seconds_sum{worker="${worker}"} 2`,
      `seconds_count{worker="${worker}"} 1`,
    ]),
    "# HELP only_here Of one alone.",
    "# TYPE only_here gauge",
    'only_here{worker="2"} 7',
    "",
  ]);
});

test("of one process is its own", async () => {
  const page = await pageOf("1", 3);
  expect(mergeMetrics([page]).replaceAll("\n", "")).toBe(page.replaceAll("\n", ""));
});
