import type { Transport } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { parseUsd } from "#lib/money/money.ts";
import { eventually } from "../../support/eventually.ts";
import { logsCalls } from "../../support/tollgate.ts";
import { generate, redis, twoCores } from "./two-cores.ts";

const scaled = twoCores();
const { admin, ask, customer } = scaled;

const timesLogged = (start: string) =>
  scaled.cores.flatMap(({ log }) => log).filter(({ msg }) => String(msg).startsWith(start)).length;
/** How often a core could not ask Redis in time; on a busy machine it then counts alone for a while. */
const timesAlone = () => timesLogged("rate limits are not shared");
const timesShared = () => timesLogged("rate limits are shared again");

/** Answers to more requests than a new key's limit of 30, all counted by Redis. */
async function exhausted(): Promise<Response[]> {
  for (let tries = 0; tries < 5; tries++) {
    const { key } = await customer("30");
    const before = timesAlone();
    const answers = await Promise.all(Array.from({ length: 80 }, () => ask(key)));
    await logsCalls(
      scaled.cores,
      answers.filter(({ ok }) => ok).map(({ headers }) => headers.get("x-request-id")),
    );
    if (timesAlone() === before) {
      return answers;
    }
    await eventually("both cores ask Redis again", () => timesShared() === timesAlone());
  }
  throw new Error("Redis never answered in time");
}

test("two cores with a limit of N accept N, not 2 N", async () => {
  const answers = await exhausted();
  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect([accepted.length, refused.length]).toEqual([30, 50]);
  expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
}, 60_000);

test("Retry-After tells when the next request is admitted, whichever core is asked", async () => {
  const { id, key } = await customer("3");
  const status = async () => (await ask(key)).status;
  expect([await status(), await status(), await status()]).toEqual([200, 200, 200]);
  const waitOf = async () => Number((await ask(key)).headers.get("retry-after"));
  const wait = await waitOf();
  expect(wait).toBeGreaterThan(50);
  expect(wait).toBeLessThanOrEqual(60);
  // A core repeats a refusal for ten seconds at most, in which the test's clock has moved.
  await age(id, wait - 10);
  let left = wait;
  await eventually("what is left is told", async () => {
    left = await waitOf();
    return left > 0 && left <= 10;
  });
  await age(id, left);
  await eventually("the next request is admitted", async () => (await status()) === 200);
}, 60_000);

/** Moves a key's requests into the past, as if so many seconds had gone by. */
async function age(keyId: string, seconds: number): Promise<void> {
  const client = new Redis(redis);
  const name = `tollgate:rate:${keyId}`;
  const times = await client.lrange(name, 0, -1);
  await client
    .multi()
    .del(name)
    .rpush(name, ...times.map((time) => String(Number(time) - seconds * 1_000_000)))
    .exec();
  client.disconnect();
}

test("a key's budget is spent exactly through every door of two cores, while it is rotated and raised", async () => {
  const { account } = await customer("1");
  const prompt = { case: "text", value: "[[sim:tokens=400]]" } as const;
  const askAt = async (door: Transport, secret: string) => {
    const answer = await generate(door, secret, {
      requestId: newRequestId(systemRandom),
      prompt,
      maxOutputTokens: 400,
    });
    return typeof answer === "string" ? answer : "";
  };
  const post = async (secret: string) => {
    const response = await ask(secret);
    const { error } = (await response.json()) as { error?: { code: string; type: string } };
    return error && (error.code === "insufficient_quota" ? "BUDGET_EXHAUSTED" : error.type);
  };
  const doors = [post, ...scaled.doors().map((door) => (secret: string) => askAt(door, secret))];
  const chain = [(await admin("keys", "create", account, "--usd", "0.01", "--rpm", "1000000")) as Keyed];
  const last = () => chain.at(-1) as Keyed;

  /** Asks at each door in turn, with each key of the chain, until the budget is spent. */
  const client = async (at: number) => {
    for (let times = at; ; times++) {
      const secret = (chain[times % chain.length] as Keyed).key;
      const refusal = (await doors[times % doors.length]?.(secret)) ?? "";
      if (refusal === "BUDGET_EXHAUSTED") {
        return;
      }
      expect(["", "BUDGET_HELD", "rate_limit_error"]).toContain(refusal);
    }
  };
  const drain = () => Promise.all(Array.from({ length: 40 }, (_, at) => client(at)));
  const spent = async () => {
    const keys = (await admin("keys", "list", account)) as (Keyed & { limits: { usd_spent: string | null } })[];
    return parseUsd(keys.find(({ id }) => id === last().id)?.limits.usd_spent ?? "") ?? -1n;
  };
  const picoUsd = 10n ** 12n;
  const leastCost = 64n * 1_000_000n;
  for (const [usd, limit] of [
    ["0.01", picoUsd / 100n],
    ["0.015", (picoUsd * 15n) / 1000n],
  ] as const) {
    await admin("keys", "set-limits", last().id, "--usd", usd);
    const rotate = async () => {
      if (chain.length === 1) {
        chain.push((await admin("keys", "rotate", last().id, "--overlap", "1h")) as Keyed);
      }
    };
    await Promise.all([drain(), rotate()]);
    await eventually("the rest is spent, whichever core is asked", async () => {
      await drain();
      return (await spent()) > limit - leastCost;
    });
    expect(await spent()).toBeLessThanOrEqual(limit);
    const usage = (await admin("usage", "--account", account)) as { cost_usd: string }[];
    expect(usage.reduce((sum, row) => sum + (parseUsd(row.cost_usd) ?? 0n), 0n)).toBe(await spent());
  }
  expect(await admin("reconcile")).toMatchObject({ ok: true });
}, 120_000);

interface Keyed {
  readonly id: string;
  readonly key: string;
}
