import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startView, type View } from "./view.ts";

let view: View;
beforeAll(async () => {
  view = await startView();
});
afterAll(async () => {
  await view[Symbol.asyncDispose]();
});

test("any key reads the seals of days, of which a new service has none", async () => {
  for (const path of ["/v1/seals", "/api/v1/seals?after=3"]) {
    expect(await view.get(path)).toEqual({ status: 200, json: { data: [] } });
  }
  expect((await view.get("/v1/seals?after=-1")).status).toBe(400);
  expect((await view.get("/v1/seals", "wrong")).status).toBe(401);
});

test("any key reads the statement of days that are over, as lines; others are refused before the first of them", async () => {
  const read = async (path: string, key = view.service.key) => {
    const { status, headers, body } = await fetch(view.service.url + path, {
      headers: { authorization: `Bearer ${key}` },
    });
    return { status, type: headers.get("content-type"), text: await new Response(body).text() };
  };
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const [from, to] = [day(Date.now() - 86_400_000), day(Date.now())];
  for (const path of [`/v1/statement?from=${from}&to=${to}`, `/api/v1/statement?from=${from}`]) {
    const { status, type, text } = await read(path);
    expect({ status, type }).toEqual({ status: 200, type: "application/jsonl; charset=utf-8" });
    const kinds = text.trimEnd().split("\n");
    expect(kinds.map((line) => JSON.parse(line).kind)).toEqual(["account", "opening", "closing"]);
  }
  const month = new Date().toISOString().slice(0, 7);
  for (const path of ["/v1/months", `/api/v1/months?month=${month}`]) {
    const { status, text } = await read(path);
    const { data } = JSON.parse(text);
    expect({ status, first: data[0] }).toMatchObject({
      status: 200,
      first: { month, is_over: false, opening_usd: "0.00", owed_usd: "0.00" },
    });
    const [{ grants_usd: grants, topups_usd: topups, charged_usd: charged, closing_usd: closing }] = data;
    expect(Number(closing)).toBeCloseTo(Number(grants) + Number(topups) - Number(charged), 9);
  }
  expect((await read("/v1/months?month=2026-13")).status).toBe(400);
  expect((await read("/v1/months", "wrong")).status).toBe(401);
  expect(await read("/v1/statement")).toMatchObject({ status: 400, type: "application/json" });
  expect((await read(`/v1/statement?from=${to}`)).status).toBe(400);
  expect((await read(`/v1/statement?from=${from}T12:00:00Z`)).status).toBe(400);
  expect((await read(`/v1/statement?from=${from}`, "wrong")).status).toBe(401);
});
