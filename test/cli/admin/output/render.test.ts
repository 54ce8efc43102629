import { expect, test } from "@jest/globals";
import { showStatus } from "#src/cli/admin/output/documents.ts";
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

test("a table has the columns of all its rows", () => {
  const rows = [
    { id: "a", cost: "1.00" },
    { id: "b", by: "x", cost: "2.00", last: true },
  ];
  expect(renderText(rows)).toBe(["id  by  cost  last", "a   -   1.00  -", "b   x   2.00  yes"].join("\n"));
});

test("what is wrong is told with its place, the time and the whole reason", () => {
  const since = "2026-01-31T12:00:00.123Z";
  const server = "127.0.0.1:8000/qwen/qwen3-8b";
  const red = [
    { what: "no_server", model: "qwen/qwen3-8b", reason: "No server of this model is up.", since },
    { what: "server_down", model: "qwen/qwen3-8b", server, reason: "It does not answer on 127.0.0.1:8000", since },
    { what: "dead_letters", reason: "1 charge could not be made.", since },
  ];
  expect(renderText(showStatus({ ok: false, red })).split("\n")).toEqual([
    "ok   no",
    "",
    "red:",
    "  trouble       where                         since                 reason",
    "  no_server     qwen/qwen3-8b                 2026-01-31T12:00:00Z  No server of this model is up.",
    "  server_down   127.0.0.1:8000/qwen/qwen3-8b  2026-01-31T12:00:00Z  It does not answer on",
    "                                                                    127.0.0.1:8000",
    "  dead_letters  -                             2026-01-31T12:00:00Z  1 charge could not be made.",
  ]);
});

test("a field with a long value goes on in further lines, and a long word stays whole", () => {
  const word = "w".repeat(120);
  const hold = { held_usd: "0.000067", shrunk_usd: "0.0000038", input_tokens: 325, output_tokens: 8, rate: "0.20" };
  expect(renderText({ hold, word }).split("\n")).toEqual([
    "hold  held_usd=0.000067 shrunk_usd=0.0000038 input_tokens=325 output_tokens=8 rate=0.20",
    `word  ${word}`,
  ]);
  expect(renderText({ hold: { ...hold, input_usd_per_million: "0.20" } }).split("\n")).toEqual([
    "hold  held_usd=0.000067 shrunk_usd=0.0000038 input_tokens=325 output_tokens=8 rate=0.20",
    "      input_usd_per_million=0.20",
  ]);
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
