import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { chatRequest } from "./engines/requests.ts";
import { output } from "./fake-engine.ts";
import { fixture, settle, toReason } from "./fixture.ts";

describe("time limits", () => {
  const limits = { first_token_timeout_s: 10, idle_timeout_s: 5, total_timeout_s: 60 };

  test("the first output", async () => {
    const { run, engines, clock } = fixture([1, 1], limits);
    engines[0]?.scripts.push(["silence"]);
    const answer = toReason(run());
    await settle();
    clock.advance(9999);
    await settle();
    expect(engines[0]?.running).toBe(1);
    clock.advance(1);
    expect(await answer).toBe(Reason.TIMEOUT);
    expect(engines[0]?.running).toBe(0);
    expect(engines[1]?.requests).toHaveLength(0);
  });

  test("silence", async () => {
    const { run, engines, clock } = fixture([1], limits);
    engines[0]?.scripts.push([output(1), "silence"]);
    const answer = toReason(run());
    await settle();
    clock.advance(9_999); // the first-output timer has yet to look again
    await settle();
    clock.advance(5_001);
    expect(await answer).toBe(Reason.TIMEOUT);
  });

  test("silence does not count while the reader is the slow one", async () => {
    const { fleet, engines, model, clock } = fixture([1], limits);
    engines[0]?.scripts.push([output(1), output(2, FinishReason.STOP)]);
    const stream = fleet.generate(model, chatRequest("hi"), new AbortController().signal)[Symbol.asyncIterator]();
    await stream.next();
    clock.advance(50_000);
    await settle();
    expect((await stream.next()).value).toEqual(output(2, FinishReason.STOP));
  });

  test("the whole answer", async () => {
    const { fleet, engines, model, clock } = fixture([1], limits);
    engines[0]?.scripts.push([output(1), output(2), "silence"]);
    const stream = fleet.generate(model, chatRequest("hi"), new AbortController().signal)[Symbol.asyncIterator]();
    await stream.next();
    clock.advance(58_000);
    await stream.next();
    const last = toReason(stream.next());
    await settle();
    clock.advance(2_001);
    expect(await last).toBe(Reason.TIMEOUT);
  });
});
