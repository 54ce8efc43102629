import { describe, expect, test } from "@jest/globals";
import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { broken } from "./fake-engine.ts";
import { fixture, toReason } from "./fixture.ts";

describe("embedding", () => {
  const embedding = (servers: number) => fixture(Array(servers).fill(1), {}, { kind: "embedding", dimensions: 2 });
  const embed = ({ fleet, model }: ReturnType<typeof fixture>, accountId = "account", inputs = ["a"]) =>
    fleet.embed(model, { requestId: "r", runId: "r", accountId, inputs }, new AbortController().signal);

  test("makes the vectors' length 1", async () => {
    const { vectors, inputTokens } = await embed(embedding(1), "account", ["a", "b"]);
    expect(vectors.map((vector) => Array.from(vector, (value) => value.toFixed(6)))).toEqual([
      ["0.600000", "0.800000"],
      ["0.600000", "0.800000"],
    ]);
    expect(inputTokens).toBe(2);
  });

  test("tells when a server gets the inputs", async () => {
    const { fleet, model } = embedding(1);
    let sent = 0;
    const request = { requestId: "r", runId: "r", accountId: "account", inputs: ["a"], onSent: () => void sent++ };
    await fleet.embed(model, request, new AbortController().signal);
    expect(sent).toBe(1);
  });

  test.each([[[1, 2, 3]], [[0, 0]], [[Number.NaN, 1]]])("refuses the vector %j", async (vector) => {
    const fleet = embedding(1);
    for (const engine of fleet.engines) {
      engine.vector = Float32Array.from(vector);
    }
    expect(await toReason(embed(fleet))).toBe(Reason.ENGINE_FAILED);
  });

  test("moves on from a broken server", async () => {
    const fleet = embedding(2);
    for (const engine of fleet.engines.slice(0, 1)) {
      engine.embedError = broken();
    }
    expect((await embed(fleet)).vectors).toHaveLength(1);
  });

  test("refuses inputs that have more tokens than the model takes, which is no fault of the server", async () => {
    const fleet = fixture([1], {}, { kind: "embedding", dimensions: 2, context_length: 1000 });
    for (const engine of fleet.engines) {
      engine.inputTokens = 1500;
    }
    const long = "word ".repeat(1500);
    for (let call = 0; call < 5; call++) {
      expect(await toReason(embed(fleet, "account", [long]))).toBe(Reason.INPUT_TOO_LONG);
    }
    expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.CLOSED);
  });

  test("distrusts a server that counts more tokens than a text can have", async () => {
    const fleet = fixture([1], {}, { kind: "embedding", dimensions: 2, context_length: 1000 });
    for (const engine of fleet.engines) {
      engine.inputTokens = 1500;
    }
    expect((await embed(fleet, "account", ["a word"])).inputTokens).toBeLessThan(1000);
    expect(fleet.fleet.servers()[0]?.breaker).toBe(BreakerState.OPEN);
  });

  test("lets accounts take turns", async () => {
    const fleet = embedding(1);
    const order: string[] = [];
    const as = (accountId: string) => embed(fleet, accountId).then(() => order.push(accountId));
    await Promise.all([as("greedy"), as("greedy"), as("greedy"), as("modest")]);
    expect(order).toEqual(["greedy", "modest", "greedy", "greedy"]);
  });
});
