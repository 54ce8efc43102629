import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { operator, type ServedAccounts, serveAccounts } from "../../identity/accounts/served-accounts.ts";

let served: ServedAccounts;
beforeEach(async () => {
  served = await serveAccounts();
});
afterEach(() => served.close());

const fixed = (model: string, input = 7n, output = 9n) => ({
  model,
  inputPicoUsdPerToken: input,
  outputPicoUsdPerToken: output,
});
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => readDetail(error)?.reason,
  );

test("a proposal shows every model's price and sets nothing", async () => {
  const accountId = await served.newAccount();
  const proposed = { discountBasisPoints: 1500, fixed: [fixed("open/chat")] };
  const answer = await served.client.getAccountPrices({ accountId, proposed });
  expect(answer).toMatchObject({ ownPrices: proposed, number: 0 });
  const chat = answer.prices.find(({ model }) => model === "open/chat");
  expect(chat).toMatchObject({ inputPicoUsdPerToken: 7n, generalInputPicoUsdPerToken: 200_000n });
  const embed = answer.prices.find(({ model }) => model === "open/embed");
  expect(embed).toMatchObject({ inputPicoUsdPerToken: 170_000n, outputPicoUsdPerToken: 0n });
  expect(await served.client.getAccountPrices({ accountId })).toMatchObject({
    ownPrices: { discountBasisPoints: 0, fixed: [] },
    number: 0,
  });
});

test("an account sees its own prices and nobody else's, and sets none", async () => {
  const [accountId, other] = [await served.newAccount(), await served.newAccount()];
  await served.client.setAccountPrices({ accountId, ownPrices: { discountBasisPoints: 1 } });
  served.callAs({ kind: "caller", accountId, keyId: "" });
  expect(await served.client.getAccountPrices({})).toMatchObject({ ownPrices: { discountBasisPoints: 1 }, number: 1 });
  expect(await reasonOf(served.client.getAccountPrices({ accountId: other }))).toBe(Reason.PERMISSION_DENIED);
  served.callAs(operator);
});

test("a price that no model may have is refused", async () => {
  const accountId = await served.newAccount();
  const set = (...prices: ReturnType<typeof fixed>[]) =>
    reasonOf(served.client.setAccountPrices({ accountId, ownPrices: { fixed: prices } }));
  expect(await set(fixed("open/none"))).toBe(Reason.MODEL_NOT_FOUND);
  expect(await set(fixed("open/embed"))).toBe(Reason.INVALID_ARGUMENT);
  expect(await set(fixed("open/chat", -1n))).toBe(Reason.INVALID_ARGUMENT);
  expect(await set(fixed("open/chat", 1_000_000_001n))).toBe(Reason.INVALID_ARGUMENT);
  expect(await set(fixed("open/chat"), fixed("open/chat"))).toBe(Reason.INVALID_ARGUMENT);
  const all = served.client.setAccountPrices({ accountId, ownPrices: { discountBasisPoints: 10_000 } });
  expect(await reasonOf(all)).toBe(Reason.INVALID_ARGUMENT);
});
