import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { type Simulator, startSimulator } from "../../../../simulator/server.ts";
import { connect, never } from "./engines.ts";

describe.each(["vllm", "sglang", "llama.cpp", "trtllm", "openai", "ollama", "tei"] as const)("%s embeds", (dialect) => {
  let sim: Simulator;
  let engine: Engine;

  beforeAll(async () => {
    sim = await startSimulator({ dialect, speed: 0, models: [{ id: "m", kind: "embedding", contextLength: 512 }] });
    engine = connect(sim.url, dialect, 512);
  });
  afterAll(async () => {
    await engine.close();
    await sim.close();
  });

  const embed = (inputs: string[]) => engine.embed({ runId: "run-1", model: "m", inputs }, never());

  test("in input order, however many", async () => {
    await engine.checkHealth(never());
    const inputs = Array.from({ length: 300 }, (_, i) => `input ${i}`);
    const { vectors, inputTokens } = await embed(inputs);
    expect(vectors).toHaveLength(300);
    expect(inputTokens).toBeGreaterThanOrEqual(300);
    const [last] = (await embed(["input 299"])).vectors;
    expect(vectors[299]).toEqual(last);
    expect(last).toHaveLength(1024);
  });

  test("and names the input that is too long, never cutting it", async () => {
    const long = "word ".repeat(600);
    const error = await embed(["short", long, "short"]).catch((refusal) => refusal);
    expect(readDetail(error)).toMatchObject({
      reason: Reason.INPUT_TOO_LONG,
      parameter: "inputs[1]",
      bound: { case: "tokens", value: { limit: 512n } },
    });
  });

  test.each([
    [503, Reason.OVERLOADED],
    [429, Reason.OVERLOADED],
    [500, Reason.ENGINE_FAILED],
  ])("and understands status %d", async (status, reason) => {
    const path = { ollama: "/api/embed", tei: "/embed" }[dialect as string] ?? "/v1/embeddings";
    const heal = sim.faults.add({ status }, { path });
    const error = await embed(["a"]).catch((failure) => failure);
    heal();
    expect(readDetail(error)?.reason).toBe(reason);
  });
});
