import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { eventually } from "../support/eventually.ts";
import { type Metronome, promptTokens, startMetronome, testModel, token } from "./metronome.ts";
import { type Service, startService } from "./service.ts";

// Streams that end before their engine is done: because the client leaves, or because their cap is reached.

let metronome: Metronome;
let service: Service;
let account: string;
let key: string;
beforeAll(async () => {
  metronome = await startMetronome();
  service = await startService(metronome.url);
  ({ account, key } = await service.books.customer(10n));
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await service?.remove();
  await metronome?.close();
});

const begin = (path: string, content: string, more: object) =>
  fetch(`${service.urls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: testModel, stream: true, messages: [{ role: "user", content }], ...more }),
  });
const receiptOf = (response: Response) => service.books.receipt(response.headers.get("x-request-id") ?? undefined);

async function nothingIsHeld(): Promise<void> {
  const held = async () => (await service.books.accounts.getAccount({ accountId: account })).account?.heldPicoUsd;
  await eventually("the hold is released", async () => (await held()) === 0n);
}

test.each(["/v1/chat/completions", "/v1/messages"])(
  "%s: a client that leaves pays what the engine had counted, and the engine stops",
  async (path) => {
    const name = `leaving${path}`;
    const response = await begin(path, `${name} 100000`, { max_tokens: 100_000 });
    let seen = 0;
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += piece.split(token).length - 1;
      if (seen >= 200) {
        break; // which closes the connection
      }
    }
    await eventually("a receipt", async () => (await receiptOf(response)) !== undefined);
    const receipt = await receiptOf(response);
    const counted = metronome.counted.get(name) ?? 0; // it has stopped: its connection is gone
    expect(receipt).toMatchObject({
      status: ReceiptStatus.CANCELLED,
      inputTokens: BigInt(promptTokens),
      shortfallPicoUsd: 0n,
    });
    expect(seen).toBeGreaterThanOrEqual(200);
    expect(receipt?.outputTokens).toBeGreaterThanOrEqual(seen);
    expect(receipt?.outputTokens).toBeLessThanOrEqual(counted);
    await nothingIsHeld();
  },
  60_000,
);

test("an engine that heeds no limit is cut off at the cap; what it had counted is on the receipt", async () => {
  const response = await begin("/v1/chat/completions", "heedless 100000 heedless", { max_tokens: 50 });
  expect(await response.text()).toMatch(/"finish_reason":"length"[\s\S]*\[DONE\]/);
  const receipt = await receiptOf(response);
  expect(receipt?.status).toBe(ReceiptStatus.COMPLETED);
  expect(receipt?.outputTokens).toBeGreaterThanOrEqual(50);
  expect(receipt?.outputTokens).toBeLessThanOrEqual(metronome.counted.get("heedless") ?? 0);
  await nothingIsHeld();
  expect(await service.books.reconcile()).toMatchObject({ ok: true, debtPicoUsd: "0" });
}, 60_000);
