import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { EngineFault } from "#src/fleet/engines/interface.ts";
import { drain } from "../collect.ts";
import { chatRequest } from "../requests.ts";
import { engines, never, startEngine } from "./engines.ts";

describe.each(engines)("$dialect", ({ dialect, sse }) => {
  const started = startEngine(dialect);

  test.each([
    [500, Reason.ENGINE_FAILED],
    [502, Reason.ENGINE_FAILED],
    [503, Reason.OVERLOADED],
    [429, Reason.OVERLOADED],
  ])("status %d", async (status, reason) => {
    started.sim.faults.add({ status });
    const { outputs, error } = await started.generate(chatRequest("hi"));
    expect(outputs).toEqual([]);
    expect(readDetail(error)?.reason).toBe(reason);
    expect(((error as Error).cause as EngineFault).transient).toBe(true);
  });

  test.each(["reset", "cut", "error"] as const)("%s before the first token", async (fault) => {
    started.sim.faults.add({ [fault]: 0 });
    const { error } = await started.generate(chatRequest("[[sim:tokens=20]]"));
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    expect(((error as Error).cause as EngineFault).transient).toBe(true);
  });

  test.each(["reset", "cut", "error"] as const)("%s in the middle fails after what was counted", async (fault) => {
    started.slow.faults.add({ [fault]: 10 });
    const request = chatRequest("[[sim:tokens=50]]");
    const { outputs, answer, error } = await drain(started.slowEngine.generate(request, never()));
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    expect(outputs.at(-1)?.finish).toBeUndefined();
    if (fault === "reset") {
      return; // it may overtake what was sent before
    }
    expect(answer.text.length).toBeGreaterThan(0);
    expect(outputs.at(-1)?.usage?.outputTokens).toBeGreaterThan(0);
  });

  test.each(["missing", "zero"] as const)("a %s count is a failure", async (usage) => {
    started.sim.faults.add({ usage });
    const { error } = await started.generate(chatRequest("hi"));
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  });

  test.each([{ done: "missing" }, { pings: true }, { split: 1 }, { split: 3, pings: true }] as const)(
    "%j changes nothing",
    async (fault) => {
      if ("pings" in fault && !sse) {
        return;
      }
      const request = chatRequest("[[sim:text=Grüße 😀 aus Köln.]]");
      const expected = await started.generate(request);
      started.sim.faults.add(fault);
      const { answer, error, outputs } = await started.generate(request);
      expect(error).toBeUndefined();
      expect(answer).toEqual(expected.answer);
      expect(outputs.at(-1)?.usage?.outputTokens).toBe(expected.outputs.at(-1)?.usage?.outputTokens);
    },
  );
});
