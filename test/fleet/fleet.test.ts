import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { chatRequest } from "./engines/requests.ts";
import { broken, full, output, unreachable, whole } from "./fake-engine.ts";
import { fixture, settle, toReason } from "./fixture.ts";

describe("a generation", () => {
  test("goes to a server under the server's own model name", async () => {
    const { run, engines } = fixture([1], {}, { servers: [{ url: "http://a:1", model: "own-name" }] });
    expect(await run()).toEqual(whole);
    expect(engines[0]?.requests[0]?.model).toBe("own-name");
  });

  test.each([
    ["a broken server", broken()],
    ["a full server", full()],
  ])("moves on from %s before its first output", async (_, error) => {
    const { run, engines } = fixture([1, 1]);
    engines[0]?.scripts.push([error]);
    expect(await run()).toEqual(whole);
    expect(engines.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  test("tries three servers at most", async () => {
    const { run, engines } = fixture([1, 1, 1, 1]);
    for (const engine of engines) {
      engine.scripts.push([broken()]);
    }
    expect(await toReason(run())).toBe(Reason.ENGINE_FAILED);
    expect(engines.map(({ requests }) => requests.length)).toEqual([1, 1, 1, 0]);
  });

  test("lets a full server have the longest of the pauses that it asked for", async () => {
    const { run, engines, clock } = fixture([2]);
    engines[0]?.scripts.push([full(9000)], [full(1000)]);
    const answers = [run(), run()];
    await settle();
    clock.advance(8000);
    await settle();
    expect(engines[0]?.requests).toHaveLength(2);
    clock.advance(1000);
    for (const answer of answers) {
      expect(await answer).toEqual(whole);
    }
  });

  test("has no other try where there is no other server", async () => {
    const { run, engines } = fixture([1]);
    engines[0]?.scripts.push([broken()]);
    expect(await toReason(run())).toBe(Reason.ENGINE_FAILED);
    expect(engines[0]?.requests).toHaveLength(1);
  });

  test.each([
    ["a broken server", broken(), { seconds: 5n, nanos: 0 }],
    ["one that does not listen", unreachable(), { seconds: 5n, nanos: 0 }],
    ["one that is set up wrongly", broken(false), undefined],
  ])("that fails on %s tells when a retry may succeed, if ever", async (_, error, retryAfter) => {
    const { run, engines } = fixture([1]);
    engines[0]?.scripts.push([error]);
    const told = readDetail(await run().catch((thrown) => thrown));
    expect(told?.reason).toBe(Reason.ENGINE_FAILED);
    if (retryAfter === undefined) {
      expect(told?.retryAfter).toBeUndefined();
    } else {
      expect(told?.retryAfter).toMatchObject(retryAfter);
    }
  });

  test("waits out a pause of less than a second", async () => {
    const { run, engines, clock } = fixture([1]);
    engines[0]?.scripts.push([full(400)]);
    const answer = run();
    await settle();
    clock.advance(399);
    await settle();
    expect(engines[0]?.requests).toHaveLength(1);
    clock.advance(1);
    expect(await answer).toEqual(whole);
  });

  test.each([
    ["a refusal", failure(Reason.INVALID_ARGUMENT, "no")],
    ["a prompt too long", failure(Reason.CONTEXT_LENGTH_EXCEEDED, "no")],
    ["a wrong configuration", broken(false)],
  ])("does not move on from %s", async (_, error) => {
    const { run, engines } = fixture([1, 1]);
    engines[0]?.scripts.push([error]);
    expect(await toReason(run())).toBe(readDetail(error)?.reason);
    expect(engines[1]?.requests).toHaveLength(0);
  });

  test("does not move on after its first output", async () => {
    const { fleet, engines, model } = fixture([1, 1]);
    engines[0]?.scripts.push([output(1), broken()]);
    const seen: number[] = [];
    const answer = (async () => {
      for await (const { usage } of fleet.generate(model, chatRequest("hi"), new AbortController().signal)) {
        seen.push(usage?.outputTokens ?? -1);
      }
    })();
    expect(await toReason(answer)).toBe(Reason.ENGINE_FAILED);
    expect(seen).toEqual([1]);
    expect(engines[1]?.requests).toHaveLength(0);
  });

  test("tries a full server again when it asked for a pause and there is no other", async () => {
    const { run, engines, clock } = fixture([1]);
    engines[0]?.scripts.push([full(2000)]);
    const answer = run();
    await settle();
    expect(engines[0]?.requests).toHaveLength(1);
    clock.advance(2000);
    expect(await answer).toEqual(whole);
  });

  test("stops the engine when the reader leaves", async () => {
    const { fleet, engines, model } = fixture([1]);
    engines[0]?.scripts.push([output(1), "silence"]);
    for await (const _ of fleet.generate(model, chatRequest("hi"), new AbortController().signal)) {
      break;
    }
    await settle();
    expect(engines[0]?.running).toBe(0);
    expect(fleet.servers()[0]?.inFlight).toBe(0);
  });

  test("ends with the caller's reason when the caller gives up", async () => {
    const { run, engines, fleet } = fixture([1]);
    engines[0]?.scripts.push(["silence"]);
    const controller = new AbortController();
    const answer = run({}, controller.signal);
    await settle();
    controller.abort(new Error("client gone"));
    await expect(answer).rejects.toThrow("client gone");
    expect(fleet.servers()[0]).toMatchObject({ inFlight: 0, lastError: "" });
  });
});

describe("counting tokens", () => {
  const count = ({ fleet, model }: ReturnType<typeof fixture>) =>
    fleet.countTokens(
      model,
      { prompt: { case: "text", value: "hi" }, recipe: model.thinking },
      new AbortController().signal,
    );

  test("asks until a server can tell", async () => {
    const fleet = fixture([1, 1, 1]);
    const [first, second] = fleet.engines;
    if (first) {
      first.count = undefined;
    }
    if (second) {
      second.count = broken();
    }
    expect(await count(fleet)).toBe(5);
  });

  test("says so when none can", async () => {
    const fleet = fixture([1]);
    for (const engine of fleet.engines) {
      engine.count = undefined;
    }
    expect(await count(fleet)).toBeUndefined();
  });
});

test("an unknown model or server is told as such", async () => {
  const { fleet, model } = fixture([1]);
  const other = { ...model, id: "other" };
  const answer = fleet.generate(other, chatRequest("hi"), new AbortController().signal)[Symbol.asyncIterator]();
  expect(await toReason(answer.next())).toBe(Reason.MODEL_NOT_FOUND);
  expect(() => fleet.drain("other")).toThrow("There is no server other.");
});

test("tells when a server gets the request, before it answers", async () => {
  const { fleet, model, engines } = fixture([1]);
  engines[0]?.scripts.push(["silence"]);
  let sent = 0;
  const leaving = new AbortController();
  const request = { ...chatRequest("hi"), onSent: () => void sent++ };
  const answer = fleet.generate(model, request, leaving.signal)[Symbol.asyncIterator]().next();
  await settle();
  expect(sent).toBe(1);
  leaving.abort(new Error("client gone"));
  await expect(answer).rejects.toThrow("client gone");
});

test("closes its engines", async () => {
  const { fleet, engines } = fixture([1, 1]);
  await fleet.close();
  expect(engines.every(({ closed }) => closed)).toBe(true);
});
