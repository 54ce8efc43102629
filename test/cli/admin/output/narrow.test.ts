import { describe, expect, test } from "@jest/globals";
import { renderText } from "#src/cli/admin/output/render.ts";
import { answers } from "../../../../scripts/docs/answers.ts";

type Row = Record<string, unknown>;

/** The widest table that a line of a text belongs to. */
const widest = (text: string) => Math.max(...text.split("\n").map(({ length }) => length));

/** The same row with long values in every cell. */
function lengthened(row: Row): Row {
  const long = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value.map((one) => (typeof one === "object" ? lengthened(one as Row) : one));
    }
    if (typeof value === "number") {
      return 123_456_789_012;
    }
    if (typeof value === "boolean") {
      return value;
    }
    if (/_at$|^at$|^since$/.test(name)) {
      return "2026-01-31T12:00:00.123Z";
    }
    if (/usd/.test(name)) {
      return "1234567.123456789012";
    }
    return /(^|_)id$/.test(name) ? "018f0000-0000-7000-8000-000000000000" : "long words in a value ".repeat(12).trim();
  };
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, long(name, value)]));
}

const lists = Object.entries(answers).flatMap(([name, answer]) => {
  const rows = Array.isArray(answer) ? answer : Object.values(answer).find((value) => Array.isArray(value) && value[0]);
  return rows && typeof rows[0] === "object" ? [[name, rows[0] as Row] as const] : [];
});

describe.each(lists)("the table of %s", (_name, row) => {
  const rows = [lengthened(row), lengthened(row)] as Parameters<typeof renderText>[0];

  test("is at most 100 columns wide, whatever its values are", () => {
    const text = renderText(rows);
    expect(widest(text)).toBeLessThanOrEqual(100);
    expect(text.split("\n")[0]).toMatch(/\w/);
    expect(widest(`${renderText({ list: rows } as Parameters<typeof renderText>[0])}`)).toBeLessThanOrEqual(100);
  });

  test("has every column and whole values where all of it is asked for", () => {
    const [head = "", first = ""] = renderText(rows, { wide: true }).split("\n");
    const shown = Object.entries(row).filter(([, value]) => !Array.isArray(value) || typeof value[0] === "string");
    expect(
      head
        .split(/ {2,}/)
        .map((name) => name.trim())
        .filter(Boolean),
    ).toEqual(shown.map(([name]) => name));
    expect(first).not.toContain("…");
  });
});

test("ids stay whole, texts are cut, sentences go on in the next line, empty columns leave first", () => {
  const rows = [
    {
      id: "018f0000-0000-7000-8000-000000000000",
      name: "n".repeat(60),
      email: null,
      message: "word ".repeat(12).trim(),
    },
  ];
  expect(renderText(rows).split("\n")).toEqual([
    "id                                    name                      message",
    expect.stringMatching(/^018f0000-0000-7000-8000-000000000000 {2}n{23}… {2}word( word){6}$/),
    expect.stringMatching(/^ +word( word)*$/),
  ]);
});

const account = "018f0000-0000-7000-8000-000000000000";

test.each([
  [
    "usage says what it cost",
    {
      account_id: account,
      key_id: account,
      model: "long/model-name",
      requests: 5,
      input_tokens: 45,
      output_tokens: 140,
      cost_usd: "0.000044",
    },
    ["account_id", "model", "input_tokens", "output_tokens", "cost_usd"],
  ],
  [
    "usage of many tokens still says of which model it is",
    {
      account_id: account,
      model: "meta-llama/llama-4-maverick-17b-instruct",
      requests: 123_456,
      input_tokens: 123_456_789_012,
      output_tokens: 123_456_789_012,
      cost_usd: "12345.000000000044",
    },
    ["account_id", "model", "cost_usd"],
  ],
  [
    "requests say when and why they were refused",
    {
      request_id: `req_${account}`,
      account_id: account,
      surface: "chat",
      model: "long/model-name",
      reason: "MODEL_NOT_FOUND",
      http_status: 404,
      duration_ms: 1,
      at: "2026-01-31T12:00:00.123Z",
    },
    ["request_id", "reason", "http_status", "at"],
  ],
  [
    "servers say how they are",
    {
      id: "127.0.0.1:44219/tollgate-sim/reasoner-always",
      url: "http://127.0.0.1:44219",
      model: "tollgate-sim/reasoner-always",
      engine: "simulator",
      state: "healthy",
      in_flight: 0,
      running: 0,
      queued: 0,
      breaker: "closed",
    },
    ["id", "model", "engine", "state"],
  ],
])("%s where room is short", (_name, row, columns) => {
  const [head = ""] = renderText([row]).split("\n");
  expect(head.split(/ +/)).toEqual(expect.arrayContaining(columns));
});

test("lists of keys and accounts say which have ended or are frozen, where room is short", () => {
  const at = "2026-01-31T12:00:00.123Z";
  const key = {
    ...{
      id: account,
      name: "nightly build",
      prefix: "tg-AbCd",
      last4: "WxYz",
      manages: false,
      disabled: false,
      rpm: 9,
    },
    ...{ created_at: at, expires_at: at, revoked_at: at, last_used_at: at, limits: { usd: "5.00" } },
  };
  const payer = {
    ...{ id: account, name: "Aster Labs GmbH & Co. KG", balance_usd: "10.9999848", held_usd: "0.00", debt_usd: "0.00" },
    ...{ credit_line_usd: "0.00", paid_total_usd: "10.00", frozen: true, frozen_reason: "It was asked for." },
  };
  const columns = (row: Row) =>
    (renderText([row] as Parameters<typeof renderText>[0]).split("\n")[0] ?? "").split(/ +/);
  expect(columns(key)).toEqual(expect.arrayContaining(["id", "last4", "revoked_at"]));
  expect(columns(payer)).toEqual(expect.arrayContaining(["id", "name", "balance_usd", "frozen"]));
});

test("a sentence whose long word was broken is whole again where there is room", () => {
  const file = `/${"folder/".repeat(4)}tollgate.yaml`;
  const row = {
    part: "configuration",
    status: "ok",
    message: `${file} is valid`,
    engine: "n".repeat(50),
    more: "m".repeat(60),
  };
  expect(renderText([row])).toContain(file);
});

test("times are told to the second, and methods without their services", () => {
  const row = {
    at: "2026-01-31T12:00:00.123Z",
    method: "tollgate.sessions.v1.SessionsService/CreateSignInLink",
    target: account,
  };
  expect(renderText([row]).split("\n")[1]).toMatch(/^2026-01-31T12:00:00Z {2}CreateSignInLink {2}018f/);
});
