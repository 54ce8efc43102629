import { once } from "node:events";
import type { HandlerContext } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { startFront } from "./http/front-server.ts";
import { scriptedCore } from "./http/scripted-core.ts";

// What both surfaces do with the catalogue.

const surfaces: [string, Record<string, string>][] = [
  ["chat", {}],
  ["messages", { "anthropic-version": "2023-06-01" }],
];

test.each(surfaces)("%s: a catalogue that answers without the model is answered with 500", async (_, headers) => {
  const { transport } = scriptedCore({ lookUp: async () => true });
  await using front = await startFront(transport);
  const response = await fetch(`${front.url}/v1/models/m`, { headers });
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { message: "Internal server error." } });
});

test.each(
  surfaces.flatMap(([name, headers]) => ["/v1/models", "/v1/models/m"].map((path) => [name, path, headers] as const)),
)("%s: %s is not looked up any longer for a client that left", async (_, path, headers) => {
  const asked = Promise.withResolvers<AbortSignal>();
  const lookUp = async ({ signal }: HandlerContext) => {
    asked.resolve(signal);
    if (!signal.aborted) {
      await once(signal, "abort");
    }
    return true;
  };
  await using front = await startFront(scriptedCore({ lookUp }).transport);
  const leaving = new AbortController();
  const answer = fetch(front.url + path, { headers, signal: leaving.signal });
  const signal = await asked.promise;
  leaving.abort();
  await expect(answer).rejects.toThrow("aborted");
  if (!signal.aborted) {
    await once(signal, "abort");
  }
});

test.each(
  surfaces.flatMap(([name, headers]) => ["/v1/models", "/v1/models/m"].map((path) => [name, path, headers] as const)),
)(
  "%s: %s has the caller's own rates, and no cache gives it to others or to the other style",
  async (_, path, headers) => {
    const general = { inputPicoUsdPerToken: 200_000n, outputPicoUsdPerToken: 250_001n };
    const ownRates = { inputPicoUsdPerToken: 170_000n, outputPicoUsdPerToken: 212_501n };
    const { transport } = scriptedCore({ models: [{ id: "m", kind: ModelKind.GENERATION, ...general, ownRates }] });
    await using front = await startFront(transport);
    const response = await fetch(front.url + path, { headers });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "private",
      vary: "authorization, x-api-key, anthropic-version",
    });
    const body = (await response.json()) as { data?: object[] };
    const [model] = body.data ?? [body];
    expect(model).toMatchObject({
      pricing: { prompt: "0.00000017", completion: "0.000000212501" },
      price_per_million: { input: "0.17", output: "0.212501" },
    });
  },
);
