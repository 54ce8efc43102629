import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { chatRequest } from "../requests.ts";
import { contextLength, engines, never, startEngine } from "./engines.ts";

describe.each(engines)("$dialect", ({ dialect, tokenizes }) => {
  const started = startEngine(dialect);

  test("refuses a prompt that does not fit", async () => {
    const { outputs, error } = await started.generate(
      chatRequest("word ".repeat(contextLength + 10), { maxOutputTokens: 10 }),
    );
    expect(outputs).toEqual([]);
    const detail = readDetail(error);
    expect(detail).toMatchObject({ reason: Reason.CONTEXT_LENGTH_EXCEEDED });
    expect([undefined, BigInt(contextLength)]).toContain(detail && readTokenBound(detail).limit);
  });

  if (dialect !== "vllm") {
    // vLLM does not tell how long a prompt is that it refuses, but counts it beforehand.
    test("lets a prompt pass with as much output as the context has, or tells what would fit", async () => {
      const all = await started.generate(chatRequest("hi", { maxOutputTokens: contextLength }));
      const told = all.error === undefined ? undefined : readDetail(all.error);
      const { limit = 0n, actual = 0n } = told === undefined ? {} : readTokenBound(told);
      expect(told?.reason).toBe(told && Reason.CONTEXT_LENGTH_EXCEEDED);
      const fitting =
        told && (await started.generate(chatRequest("hi", { maxOutputTokens: Number(limit - actual) - 128 })));
      expect((fitting ?? all).outputs.at(-1)?.finish).toBe(FinishReason.STOP);
    });
  }

  if (tokenizes) {
    test("counts a prompt as a generation does", async () => {
      const request = chatRequest({
        messages: [
          { role: Role.SYSTEM, text: "be kind" },
          { role: Role.USER, text: "Tell me about rivers." },
        ],
      });
      const { outputs } = await started.generate(request);
      expect(await started.engine.countTokens(request, never())).toBe(outputs.at(-1)?.usage?.inputTokens);
    });
  }
});
