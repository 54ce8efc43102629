import { expect, test } from "@jest/globals";
import { renderJson, renderText } from "#src/cli/admin/output/render.ts";

test("a list is a table, numbers to the right", () => {
  const rows = [
    { id: "a", balance_usd: "10.00", keys: 3, open: true, lots: [] },
    { id: "longer", balance_usd: "9.50", keys: 12, open: false, lots: [] },
  ];
  expect(renderText(rows)).toBe(
    ["id      balance_usd  keys  open", "a             10.00     3  yes", "longer         9.50    12  no"].join("\n"),
  );
  expect(renderText([])).toBe("none");
});

test("a single thing is its fields, with its lists below", () => {
  expect(renderText({ id: "a", name: "", expires_at: null, lots: [{ id: "l", left: "1.00" }] })).toBe(
    ["id          a", "name        -", "expires_at  -", "", "lots:", "  id  left", "  l   1.00"].join("\n"),
  );
});

test("JSON is one document", () => {
  expect(JSON.parse(renderJson([{ id: "a", at: null }]))).toEqual([{ id: "a", at: null }]);
});

test("a name cannot forge a row or have a terminal obey it", () => {
  const rows = [
    { name: "a\nb", limits: { models: ["\u001b[31m"] } },
    { name: "\u202eroot", limits: { models: ["c\u2028"] } },
  ];
  expect(renderText(rows)).toBe(
    ["name        limits", "a\\u000ab    models=\\u001b[31m", "\\u202eroot  models=c\\u2028"].join("\n"),
  );
  expect(renderText({ name: "a\tb\u0085" })).toBe("name  a\\u0009b\\u0085");
  expect(JSON.parse(renderJson(rows))).toEqual(rows);
});
