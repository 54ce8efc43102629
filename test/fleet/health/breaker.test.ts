import { beforeEach, expect, test } from "@jest/globals";
import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { configSchema } from "#src/config/schema.ts";
import { Member } from "#src/fleet/servers/member.ts";
import { Place } from "#src/fleet/servers/place.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { FakeEngine } from "../fake-engine.ts";

const openMs = 2000;
const { models } = configSchema.parse({
  models: [{ id: "m", servers: [{ url: "http://gpu:8000", capacity: 8 }] }],
});

let clock: ManualClock;
let member: Member;
beforeEach(() => {
  clock = new ManualClock();
  const [server] = models[0]?.servers ?? [];
  member = new Member("gpu", "m", server as never, new FakeEngine(), { clock, openMs, onFree: () => {} });
});

const place = () => {
  const footprint = { prompt: 1, output: 1 };
  return new Place({ member, uncachedTokens: 0 } as never, { key: "" }, footprint, clock.monotonic());
};

/** Opens the breaker, and lets its open time pass. */
function halfOpen(): void {
  for (let failures = 0; failures < 3; failures++) {
    member.breaker.failed();
  }
  clock.advance(openMs);
  expect(member.breaker.state).toBe(BreakerState.HALF_OPEN);
}

test("the end of a request from before the breaker opened makes no room beside the trial", () => {
  const older = place();
  halfOpen();
  const trial = place();
  expect(member.available).toBe(false);
  older.leave();
  expect(member.available).toBe(false);
  trial.leave();
  expect(member.available).toBe(true);
});

test("the end of a trial from before the breaker opened anew makes no room beside the next one", () => {
  halfOpen();
  const first = place();
  member.breaker.failed();
  clock.advance(openMs);
  const second = place();
  first.leave();
  expect(member.available).toBe(false);
  second.leave();
  expect(member.available).toBe(true);
});
