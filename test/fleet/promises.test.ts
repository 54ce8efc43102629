import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import { textRequest } from "./engines/requests.ts";
import { whole } from "./fake-engine.ts";
import { fixture, settle, toReason } from "./fixture.ts";

const promise = { first_token_promise_s: { standard: 2 } };

/** A request of so many prompt tokens. */
const prompt = (tokens: number, more: Partial<FleetRequest> = {}) => ({
  ...textRequest("x".repeat(4 * tokens), { maxOutputTokens: 10 }),
  ...more,
});

/** A fleet of one server that was seen to read 1,000 tokens a second. */
async function slowFleet(config: Parameters<typeof fixture>[1], capacity = 8) {
  const parts = fixture([capacity], config, { context_length: 100_000 });
  const { engines, clock, run } = parts;
  for (let request = 0; request < 100; request++) {
    let answer = () => {};
    engines[0]?.scripts.push([new Promise<void>((resolve) => (answer = resolve)), ...whole]);
    const tokens = 100 * (1 + (request % 10));
    const running = run(prompt(tokens));
    await new Promise(setImmediate);
    clock.advance(tokens);
    answer();
    await running;
  }
  return parts;
}

test("a request whose first token cannot come in the time that its class is promised is refused at once", async () => {
  const { run, shed, errors, engines } = await slowFleet(promise);
  expect(Math.max(...errors.slice(50))).toBeLessThan(200);
  const asked = engines[0]?.requests.length ?? 0;
  const detail = readDetail(await run(prompt(6000)).catch((error) => error));
  expect(detail?.reason).toBe(Reason.OVERLOADED);
  // It would have taken four seconds longer than it may.
  expect(Number(detail?.retryAfter?.seconds)).toBeGreaterThanOrEqual(3);
  expect(Number(detail?.retryAfter?.seconds)).toBeLessThanOrEqual(5);
  expect(engines[0]?.requests).toHaveLength(asked);
  expect(shed).toEqual(["standard"]);
});

test("what can be kept is served, as is a class that is promised nothing, and everybody where no class is", async () => {
  const promised = await slowFleet(promise);
  expect(await promised.run(prompt(1000))).toEqual(whole);
  expect(await promised.run(prompt(6000, { serviceClass: "flex" }))).toEqual(whole);
  expect(promised.shed).toEqual([]);
  const others = await slowFleet({});
  expect(await others.run(prompt(6000))).toEqual(whole);
});

test("tokens that others have the server read first count, too", async () => {
  const { run, engines, shed } = await slowFleet(promise);
  engines[0]?.scripts.push(["silence"]);
  void run(prompt(1500)).catch(() => {});
  await settle();
  expect(await toReason(run(prompt(1500)))).toBe(Reason.OVERLOADED);
  expect(shed).toEqual(["standard"]);
});

test("a request that waits for a place is refused when its promise is over, one without waits as long as ever", async () => {
  const { run, engines, clock, shed } = await slowFleet(promise, 1);
  engines[0]?.scripts.push(["silence"]);
  void run(prompt(10)).catch(() => {});
  await settle();
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  void run(prompt(10)).catch(note("promised"));
  void run(prompt(10, { serviceClass: "flex" })).catch(note("flex"));
  await settle();
  clock.advance(2000);
  await settle();
  expect(ended).toEqual(["promised"]);
  expect(shed).toEqual(["standard"]);
  clock.advance(8000);
  await settle();
  expect(ended).toEqual(["promised", "flex"]);
});
