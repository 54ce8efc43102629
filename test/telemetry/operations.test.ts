import { readFileSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { webhookOutcomes } from "#src/checkout/webhook.ts";
import { type Exercised, startExercised } from "./exercise.ts";
import { parseQuery } from "./promql.ts";
import { type Scrape, scrape } from "./scrape.ts";

// What operators get in deploy/ and docs/ speaks of metrics that a running service really exports.

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; description?: string };
}

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string }[];
}

const alerts = (parse(read("deploy/prometheus/alerts.yaml")) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const dashboard = JSON.parse(read("deploy/grafana/tollgate.json")) as {
  panels: Panel[];
  templating: { list: { type: string; definition?: string }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const queries = [
  ...alerts.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...panels.flatMap(({ title, targets }) => (targets ?? []).map(({ expr }) => [`panel ${title}`, expr] as const)),
];

let service: Exercised;
let scraped: Scrape;

beforeAll(async () => {
  service = await startExercised();
  scraped = await scrape(service.tollgate);
}, 60_000);

afterAll(async () => service?.[Symbol.asyncDispose](), 60_000);

/** Labels that Prometheus adds when it scrapes. */
const added = ["instance", "job"];

/** Names of labels in a set of samples. Undefined: nothing of this name has happened yet. */
function labelsOf(name: string): Set<string> | undefined {
  const samples = [...scraped.samples.keys()].filter((sample) => sample === name || sample.startsWith(`${name}{`));
  if (samples.length === 0) {
    return undefined;
  }
  return new Set(samples.flatMap((sample) => [...sample.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)));
}

/** What labels with a closed set of values may say. */
const values: Record<string, readonly string[]> = {
  reason: ["", ...Object.values(Reason).map(String)],
  code: ["OK", ...Object.values(Code).map(String)],
  outcome: [...webhookOutcomes, "delivered", "retried", "failed", "taken", "dropped"],
  state: ["healthy", "unhealthy", "draining", "closed", "open", "half_open"],
};

test.each(queries)("%s asks for what is exported", (_, expr) => {
  const { selectors, groupings } = parseQuery(expr);
  expect(selectors).not.toEqual([]);
  const known = new Set(added);
  for (const { name, matchers } of selectors) {
    if (name === "up") {
      continue; // Prometheus's own
    }
    expect(scraped.series).toContain(name);
    const labels = labelsOf(name);
    for (const label of labels ?? groupings) {
      known.add(label);
    }
    for (const [label, value] of matchers) {
      expect([...added, ...(labels ?? [label])]).toContain(label);
      expect(values[label] ?? value.split("|")).toEqual(expect.arrayContaining(value.split("|")));
    }
  }
  for (const label of groupings) {
    expect([...known]).toContain(label);
  }
});

test("the dashboard's variables are read from what is exported", () => {
  const definitions = dashboard.templating.list.filter(({ type }) => type === "query");
  expect(definitions).toHaveLength(2);
  for (const { definition } of definitions) {
    const [, name = "", label = ""] = /^label_values\((\w+), (\w+)\)$/.exec(definition ?? "") ?? [];
    expect(scraped.series).toContain(name);
    expect([...added, ...(labelsOf(name) ?? [])]).toContain(label);
  }
});

test("every alert says how bad it is and what to do, once", () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  for (const { labels, annotations } of alerts) {
    expect(["warning", "critical"]).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\.$/);
  }
});

test("the dashboard shows every metric of Tollgate", () => {
  const shown = new Set(queries.flatMap(([, expr]) => parseQuery(expr).selectors.map(({ name }) => name)));
  const own = [...scraped.types].filter(([name]) => name.startsWith("tollgate_"));
  const hidden = own.filter(([name, type]) => !shown.has(type === "histogram" ? `${name}_bucket` : name));
  expect(hidden.map(([name]) => name)).toEqual(["tollgate_settlement_group_size"]); // its mean is shown
});

test("the documentation has the metrics as they are exported", () => {
  const rows = [
    ...read("docs/observability.md").matchAll(/^\| `(tollgate_\w+)`\s+\| (\w+)\s+\| (.*?)\s+\| (.*?)\s+\|$/gm),
  ];
  const documented = rows.map(([, name, type, , help]) => [name, type, help]);
  const exported = [...scraped.types]
    .filter(([name]) => name.startsWith("tollgate_"))
    .map(([name, type]) => [name, type, scraped.help.get(name)]);
  expect(documented).toEqual(exported);
});
