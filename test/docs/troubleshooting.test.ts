import { globSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const page = read("docs/troubleshooting.md");

test("the page has every alert, and no other", () => {
  const { groups } = parse(read("deploy/prometheus/alerts.yaml")) as { groups: { rules: { alert: string }[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const section = page.slice(page.indexOf("\n## Alerts"));
  const rows = [...section.matchAll(/^- \*\*`(Tollgate\w+)`\*\*:/gm)].map(([, alert]) => alert);
  expect(rows.toSorted()).toEqual(alerts.toSorted());
});

test("the page has every alarm that the program can write to its log", () => {
  const files = globSync(["src/**/*.ts", "facades/**/*.ts"], { cwd: root.pathname });
  const alarms = files.flatMap((file) => {
    const source = read(file);
    return [...source.matchAll(/(?:logger|log)\.error\(\s*\{[\s\S]*?\},\s*["`]([^"`]+)["`]/g)].map(
      ([, text = ""]) => text,
    );
  });
  expect(alarms.length).toBeGreaterThan(12);
  const section = page.slice(page.indexOf("\n## Alarms"), page.indexOf("\n## Alerts"));
  const missing = alarms.filter((alarm) => {
    const [known = ""] = alarm.split(/[$:;]/);
    return !section.includes(known.trim());
  });
  expect(missing).toEqual([]);
});
