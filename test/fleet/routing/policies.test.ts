import { describe, expect, test } from "@jest/globals";
import { configSchema } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { LeastLoad } from "#src/fleet/routing/least-load.ts";
import { PrefixAffinity } from "#src/fleet/routing/prefix-affinity.ts";
import { RoundRobin } from "#src/fleet/routing/round-robin.ts";
import type { Choice, Policy, RoutingRequest } from "#src/fleet/servers/choice/policy.ts";
import { Member } from "#src/fleet/servers/member.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { textRequest } from "../engines/requests.ts";
import { SeededRandom } from "../seeded-random.ts";

function members(count: number, capacity = 100): Member[] {
  const { models } = configSchema.parse({
    models: [{ id: "m", servers: Array.from({ length: count }, (_, i) => ({ url: `http://${i}:1`, capacity })) }],
  });
  const settings = { clock: new ManualClock(), openMs: 1000, onFree: () => {} };
  return (models[0]?.servers ?? []).map((server, i) => new Member(`${i}`, "m", server, {} as Engine, settings));
}

/** What a policy chooses where it must. */
function choose(policy: Policy, among: readonly Member[], wanted: RoutingRequest): Choice {
  const choice = policy.choose(among, wanted);
  if (choice === undefined) {
    throw new Error("nothing was chosen");
  }
  return choice;
}

const route = (text: string) => ({ request: textRequest(text), promptTokens: text.length / 4 });
const long = "once upon a time ".repeat(1000);

test("round robin takes each in turn", () => {
  const policy = new RoundRobin();
  const all = members(3);
  expect(Array.from({ length: 4 }, () => choose(policy, all, route("hi")).member.id)).toEqual(["0", "1", "2", "0"]);
});

test("least load never takes the busiest of all", () => {
  const policy = new LeastLoad(new SeededRandom(1));
  const all = members(4);
  for (const [i, member] of all.entries()) {
    member.inFlight = i;
  }
  const chosen = new Set(Array.from({ length: 200 }, () => choose(policy, all, route("hi")).member.id));
  expect([...chosen].sort()).toEqual(["0", "1", "2"]);
});

test("least load counts what others run on a server", () => {
  const policy = new LeastLoad(new SeededRandom(1));
  const all = members(2);
  const [first] = all;
  if (first) {
    first.load = { running: 5, waiting: 2 };
  }
  expect(Array.from({ length: 10 }, () => choose(policy, all, route("hi")).member.id)).toEqual(new Array(10).fill("1"));
});

test.each([new LeastLoad(new SeededRandom(1)), new RoundRobin()])("takes the only one there is", (policy) => {
  const all = members(1);
  expect(choose(policy, all, route("hi")).member).toBe(all[0]);
});

test.each([
  ["least-load", new LeastLoad(new SeededRandom(1))],
  ["round-robin", new RoundRobin()],
  ["prefix", new PrefixAffinity(4096, new SeededRandom(1))],
] as const)("%s gives no new prompt to a server that has much to read", (_, policy) => {
  const all = members(2);
  policy.replace(all);
  const [first, second] = all;
  if (first && second) {
    first.unreadTokens = 16_384;
    expect(choose(policy, all, route(long)).member).toBe(second);
    second.unreadTokens = 16_384;
    expect(policy.choose(all, route("another ".repeat(1000)))).toBeUndefined();
  }
});

const told = (cachedTokens: number) => ({ promptTokens: 4250, cachedTokens });

/** Prefix affinity among some servers. */
function affinity(all: readonly Member[], seed: number): PrefixAffinity {
  const policy = new PrefixAffinity(4096, new SeededRandom(seed));
  policy.replace(all);
  return policy;
}

describe("prefix affinity", () => {
  test("returns to the server that has read the beginning, and says what is left to read", () => {
    const all = members(8);
    const policy = affinity(all, 4);
    const first = choose(policy, all, route(long));
    expect(first.uncachedTokens).toBe(4250);
    for (let i = 0; i < 20; i++) {
      const again = choose(policy, all, route(long));
      expect(again.member).toBe(first.member);
      expect(again.uncachedTokens).toBeLessThan(4250 / 8);
    }
  });

  test("a server that has much to read still gets what it knows", () => {
    const all = members(2);
    const policy = affinity(all, 4);
    const { member } = choose(policy, all, route(long));
    for (const one of all) {
      one.unreadTokens = 16_384;
    }
    expect(choose(policy, all, route(long)).member).toBe(member);
    expect(policy.choose(all, route(`${"other ".repeat(9)}${long}`))).toBeUndefined();
  });

  test("goes elsewhere when that one is too busy, full of memory, not available or has forgotten", () => {
    const all = members(8);
    const policy = affinity(all, 2);
    const { member } = choose(policy, all, route(long));
    member.inFlight = 30;
    expect(choose(policy, all, route(long)).member).not.toBe(member);
    member.inFlight = 0;
    const others = all.filter((one) => one !== member);
    expect(others).toContain(choose(policy, others, route(long)).member);
    policy.forget(member);
    expect(choose(policy, [member], route(long)).uncachedTokens).toBe(4250);
    member.load = { kvUsage: 0.99 };
    expect(choose(policy, all, route(long)).member).not.toBe(member);
  });

  test("believes a server's cache to hold no more than it says, the latest", () => {
    const all = members(2);
    const policy = affinity(all, 4);
    const [first] = all as [Member, Member];
    first.load = { kvTokens: 10_000 };
    const read = (text: string) => choose(policy, [first], route(text)).uncachedTokens;
    read(long);
    read("another day ".repeat(1400));
    expect(read(long)).toBeLessThan(4250 / 8);
    read("yet another day ".repeat(1000));
    expect(read(long)).toBeLessThan(4250 / 8);
    expect(read("another day ".repeat(1400))).toBeGreaterThan(2000); // its end is lost first
  });

  test.each([
    ["much is found in caches", 4250, true],
    ["little is found in caches", 0, false],
  ])("where %s a new prompt goes where the cache lasts longest, if that has little more to do", (_, cached, lasts) => {
    const all = members(2);
    const policy = affinity(all, 4);
    const [first, second] = all as [Member, Member];
    first.load = { kvTokens: 10_000 };
    second.load = { kvTokens: 40_000 };
    for (let at = 0; at < 40; at++) {
      for (const member of all) {
        const choice = choose(policy, [member], route(`${at} ${member.id} `.repeat(3000).slice(0, long.length)));
        policy.learn(choice, { promptTokens: 4250, cachedTokens: cached });
      }
    }
    second.inFlight = 2;
    expect(choose(policy, all, route(long)).member).toBe(lasts ? second : first);
  });

  test("what a server has lost, and all that it used before, is not believed to be there", () => {
    const all = members(2);
    const policy = affinity(all, 4);
    const [first] = all as [Member, Member];
    const read = (text: string) => choose(policy, [first], route(text));
    read("an earlier day ".repeat(1000));
    read(long);
    read("a later day ".repeat(1000));
    const again = read(long);
    policy.learn(again, told(4000));
    expect(read("an earlier day ".repeat(1000)).uncachedTokens).toBeLessThan(500);
    read(long);
    policy.learn(again, told(0));
    expect(read("an earlier day ".repeat(1000)).uncachedTokens).toBeLessThan(500);
    policy.learn(read(long), told(0));
    expect(read("a later day ".repeat(1000)).uncachedTokens).toBe(3000);
  });

  describe("sessions of the same name", () => {
    const all = members(8);
    /** Where a core that knows nothing sends a prompt of an account's session. */
    const sendTo = (seed: number, accountId: string, session: string, text: string, isAlone = false) => {
      const policy = affinity(all, seed);
      policy.isAlone = isAlone;
      return choose(policy, all, { request: textRequest(text, { accountId, session }), promptTokens: text.length / 4 })
        .member;
    };
    const names = Array.from({ length: 40 }, (_, at) => `chat-${at}`);

    test.each([true, false])("go to one server from cores that know nothing of each other, alone: %s", (isAlone) => {
      for (const name of names) {
        expect(sendTo(5, "a", name, "other words", isAlone)).toBe(sendTo(1, "a", name, long, isAlone));
      }
    });

    test("are others when they are another account's", () => {
      const own = names.map((name) => sendTo(1, "a", name, long));
      expect(new Set(own).size).toBeGreaterThan(4);
      expect(names.filter((name, at) => sendTo(1, "b", name, long) === own[at]).length).toBeLessThan(20);
    });

    test("go to a server that has read the beginning first, and never to a busy one for the name", () => {
      const policy = affinity(all, 1);
      const [first] = all as [Member];
      choose(policy, [first], route(long));
      const session = names.find((name) => sendTo(1, "", name, "hi") !== first) as string;
      const home = sendTo(1, "", session, "hi");
      const named = { request: textRequest(long, { accountId: "", session }), promptTokens: 4250 };
      expect(choose(policy, all, named).member).toBe(first);
      home.inFlight = 50;
      expect(sendTo(1, "", session, "hi")).not.toBe(home);
      home.inFlight = 0;
    });
  });

  test("spreads what has nothing in common", () => {
    const all = members(8);
    const policy = affinity(all, 2);
    for (let i = 0; i < 800; i++) {
      choose(policy, all, route(`${i}`.padEnd(4000, "-"))).member.inFlight++;
    }
    for (const { inFlight } of all) {
      expect(inFlight).toBeGreaterThan(80);
    }
  });

  test("explores now and then", () => {
    const all = members(8);
    const policy = affinity(all, 3);
    const chosen = Array.from({ length: 1000 }, () => choose(policy, all, route(long)).member);
    expect(new Set(chosen.slice(0, 10)).size).toBe(1);
    expect(new Set(chosen).size).toBeGreaterThan(1);
  });

  test("knows what servers that stay have read, and nothing of those that take the place of others", () => {
    const all = members(40);
    const policy = affinity(all.slice(0, 3), 4);
    const { member } = choose(policy, all.slice(0, 1), route(long));
    const { member: other } = choose(policy, all.slice(1, 2), route(long));
    const uncached = (one: Member) => choose(policy, [one], route(long)).uncachedTokens;
    policy.replace([other, ...all.slice(3)]);
    expect(uncached(other)).toBeLessThan(4250 / 8);
    for (const one of all.slice(3)) {
      expect(uncached(one)).toBe(4250);
    }
    policy.replace([other, member]);
    expect(uncached(member)).toBe(4250);
    expect(uncached(other)).toBeLessThan(4250 / 8);
  });

  test("embeddings go to the least loaded", () => {
    const all = members(2);
    const policy = affinity(all, 3);
    const [first] = all;
    if (first) {
      first.inFlight = 3;
    }
    expect(choose(policy, all, { request: undefined, promptTokens: 10 }).member).toBe(all[1]);
  });
});
