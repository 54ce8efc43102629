import { describe, expect, test } from "@jest/globals";
import { configSchema, type Routing } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { createPolicy } from "#src/fleet/routing/create-policy.ts";
import type { Policy, RoutingRequest } from "#src/fleet/servers/choice/policy.ts";
import { Member } from "#src/fleet/servers/member.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { chatRequest } from "../engines/requests.ts";
import { SeededRandom } from "../seeded-random.ts";

/** Servers of these weights, numbered. */
function servers(weights: readonly number[]): Member[] {
  const { models } = configSchema.parse({
    models: [{ id: "m", servers: weights.map((weight, i) => ({ url: `http://${i}:1`, weight })) }],
  });
  const settings = { clock: new ManualClock(), openMs: 1000, onFree: () => {} };
  return (models[0]?.servers ?? []).map((server, i) => new Member(`${i}`, "m", server, {} as Engine, settings));
}

function policyOf(members: readonly Member[], routing: Routing = "prefix"): Policy {
  const policy = createPolicy(routing, 4096, new SeededRandom(1));
  policy.replace(members);
  return policy;
}

const session = (name: number, text = ""): RoutingRequest => {
  const request = chatRequest(`This is session ${name}. ${text}`);
  return { request: { ...request, requestId: "r" }, promptTokens: 100 };
};

/** How often each server is chosen. */
function count(policy: Policy, members: readonly Member[], routes: readonly RoutingRequest[]): number[] {
  const counts = members.map(() => 0);
  for (const route of routes) {
    const chosen = policy.choose(members, route)?.member.id ?? "";
    counts[Number(chosen)] = (counts[Number(chosen)] ?? 0) + 1;
  }
  return counts;
}

const sessions = Array.from({ length: 10_000 }, (_, at) => session(at));

describe("weights", () => {
  test("give a canary its part of the sessions, whole ones", () => {
    const members = servers([1, 1, 1, 0.06]);
    const policy = policyOf(members);
    const [, , , canary = 0] = count(policy, members, sessions);
    expect(canary / sessions.length).toBeCloseTo(0.06 / 3.06, 2);
    const again = sessions.map((route) => [0, 1].map(() => policy.choose(members, route)?.member.id === "3"));
    expect(again.every(([one, other]) => one === other)).toBe(true);
  });

  test.each(["least-load", "round-robin"] as const)("are exact under %s, and for embeddings", (routing) => {
    const members = servers([3, 1]);
    for (const route of [session(1), { request: undefined, promptTokens: 0 }]) {
      const counts = count(policyOf(members, routing), members, new Array(1000).fill(route));
      expect(counts).toEqual([750, 250]);
    }
  });

  test("count servers that cannot take a request, so that the rest keep their parts", () => {
    const members = servers([1, 1, 0.5]);
    const policy = policyOf(members);
    const chosen = sessions.map((route) => policy.choose(members.slice(1), route)?.member.id);
    expect(chosen.filter((id) => id === "2").length / sessions.length).toBeCloseTo(0.2, 1);
  });

  test("of 0 get what no other server can take", () => {
    const members = servers([1, 0]);
    const policy = policyOf(members);
    expect(count(policy, members, sessions.slice(0, 100))).toEqual([100, 0]);
    expect(policy.choose(members.slice(1), session(1))?.member.id).toBe("1");
    const [busy] = members;
    if (busy) {
      busy.unreadTokens = 16_384;
    }
    expect(policy.choose(members, session(20_000))?.member.id).toBe("1");
  });

  test("that are all alike, 0 too, change nothing", () => {
    const members = servers([0, 0]);
    expect(count(policyOf(members, "round-robin"), members, sessions.slice(0, 10))).toEqual([5, 5]);
  });
});
