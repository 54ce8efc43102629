import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { models } from "../../support/service.ts";
import { startView, type View } from "./view.ts";

let view: View;
beforeAll(async () => {
  view = await startView();
});
afterAll(async () => {
  await view[Symbol.asyncDispose]();
});

test("a list of models has the account's own prices for its keys, and the general ones for everybody else", async () => {
  const accountId = (await view.operator.createAccount({})).account?.id ?? "";
  await view.operator.setAccountPrices({ accountId, ownPrices: { discountBasisPoints: 5000 } });
  const { secret } = await view.operator.createKey({ accountId, name: "laptop" });
  const priceOf = async (headers: Record<string, string>) => {
    const { data } = (await (await fetch(`${view.service.url}/v1/models`, { headers })).json()) as {
      data: { id: string; pricing: { prompt: string } }[];
    };
    return Number(data.find(({ id }) => id === models.plain)?.pricing.prompt);
  };
  const general = await priceOf({});
  expect(general).toBeGreaterThan(0);
  expect(await priceOf({ authorization: `Bearer ${view.service.key}` })).toBe(general);
  expect(await priceOf({ authorization: `Bearer ${secret}` })).toBeCloseTo(general / 2, 12);
  const one = await fetch(`${view.service.url}/v1/models/${models.plain}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(one.headers.get("cache-control")).toBe("private");
  expect(Number(((await one.json()) as { pricing: { prompt: string } }).pricing.prompt)).toBeCloseTo(general / 2, 12);
});

test("an account sees the prices that its next payment locks in, beside the general ones", async () => {
  const accountId = (await view.operator.createAccount({})).account?.id ?? "";
  const { secret } = await view.operator.createKey({ accountId });
  await view.operator.setAccountPrices({ accountId, ownPrices: { discountBasisPoints: 5000 } });
  for (const path of ["/v1/prices", "/api/v1/prices"]) {
    const { json } = await view.get(path, secret);
    const prices = json.data as { model: string; input: string; general_input: string }[];
    const plain = prices.find(({ model }) => model === models.plain);
    expect(Number(plain?.general_input)).toBeGreaterThan(0);
    expect(Number(plain?.input)).toBe(Number(plain?.general_input) / 2);
  }
  expect((await view.get("/v1/prices", "wrong")).status).toBe(401);
});
