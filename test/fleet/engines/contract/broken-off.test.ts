import { describe, expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import { eventually } from "../../../support/eventually.ts";
import { drain } from "../collect.ts";
import { chatRequest } from "../requests.ts";
import { engines, startEngine } from "./engines.ts";

describe.each(engines)("$dialect", ({ dialect, exact }) => {
  const started = startEngine(dialect);

  test.each<[string, (controller: AbortController, stream: AsyncIterator<unknown>) => void]>([
    ["an aborted signal", (controller) => controller.abort(new Error("client gone"))],
    ["a reader that leaves", (_, stream) => void stream.return?.()],
  ])("%s stops the engine", async (_, stop) => {
    const controller = new AbortController();
    const request = chatRequest("[[sim:tokens=2000]]", { maxOutputTokens: 2000 });
    const stream = started.slowEngine.generate(request, controller.signal)[Symbol.asyncIterator]();
    await stream.next();
    expect(started.slow.metrics().running).toBe(1);
    const { aborted } = started.slow.metrics();
    stop(controller, stream);
    await eventually("the engine is idle", () => started.slow.metrics().running === 0);
    expect(started.slow.metrics().aborted).toBe(aborted + 1);
  });

  test.each([
    ["text", "[[sim:text=one two three four five six seven eight nine ten]]"],
    ["a tool call", "[[sim:tool=weather]]"],
  ])("what broke off within %s is billed as it was counted", async (_, question) => {
    const stall = 6;
    started.sim.faults.add({ stall });
    const before = started.sim.metrics("m").generatedTokens;
    const controller = new AbortController();
    const tool = { name: "weather", parametersJson: '{"type":"object","properties":{"city":{"type":"string"}}}' };
    const request = chatRequest({ messages: [{ role: Role.USER, text: question }], tools: [tool] });
    const outputs: EngineOutput[] = [];
    const reading = (async () => {
      for await (const output of started.engine.generate(request, controller.signal)) {
        outputs.push(output);
      }
    })();
    await eventually("the engine stalls", () => started.sim.metrics("m").generatedTokens - before === stall);
    const counted = () => outputs.at(-1)?.usage?.outputTokens ?? 0;
    if (exact) {
      await eventually("all tokens are counted", () => counted() === stall);
    }
    controller.abort(new Error("client gone"));
    await expect(reading).rejects.toThrow("client gone");
    expect(counted()).toBeLessThanOrEqual(stall);
    if (outputs.length > 0) {
      expect(outputs.at(-1)?.usage?.inputTokens).toBeGreaterThan(0);
    }
    await eventually("the engine is idle", () => started.sim.metrics("m").running === 0);
    expect(started.sim.metrics("m").generatedTokens - before).toBe(stall);
  });

  test("an abort before the first output stops the engine", async () => {
    started.slow.faults.add({ latency: 50 });
    const controller = new AbortController();
    const result = drain(started.slowEngine.generate(chatRequest("hi"), controller.signal));
    controller.abort(new Error("client gone"));
    expect((await result).error).toEqual(new Error("client gone"));
  });
});
