import { Code, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import pg from "pg";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { parseUsd } from "#lib/money/money.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../simulator/fleet.ts";
import type { Simulator } from "../../simulator/server.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, logsCalls, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// Two cores and a facade in processes of their own, on a real PostgreSQL and a real Redis.

const postgres = process.env.TOLLGATE_TEST_POSTGRES_URL ?? "";
const redis = process.env.TOLLGATE_TEST_REDIS_URL ?? "";
const database = `tollgate_scaled_${process.pid}`;

let fleet: Simulator[];
let sites: Site[];
let cores: Tollgate[];
let facade: Tollgate;

beforeAll(async () => {
  await onServer(`create database ${database}`);
  const url = new URL(postgres);
  url.pathname = `/${database}`;
  const shared = {
    TOLLGATE_STORAGE_URL: url.href,
    TOLLGATE_RATE_LIMIT_URL: redis,
    TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test-0123456789",
    TOLLGATE_KEY_PEPPER: "pepper-of-the-test-0123456789abcdef-0123456789",
  };
  fleet = await startDefaultFleet({ speed: 0 });
  sites = await Promise.all([createSite(shared), createSite(shared), createSite(shared)]);
  const [first, second, third] = sites as [Site, Site, Site];
  cores = [await startCore(first), await startCore(second)];
  const target = `ipv4:${cores.map(({ addresses }) => addresses.grpc).join(",")}`;
  facade = await startTollgate(third, "facade", "--core", target, "--config", await third.configure(freePorts));
}, 90_000);

afterAll(async () => {
  await Promise.all([facade, ...cores].map((tollgate) => tollgate?.stop()));
  await Promise.all(fleet.map((simulator) => simulator.close()));
  await Promise.all(sites.map((site) => site.remove()));
  await onServer(`drop database if exists ${database} with (force)`);
}, 90_000);

async function startCore(site: Site): Promise<Tollgate> {
  const config = { ...freePorts, models: defaultFleetConfig(fleet) };
  return startTollgate(site, "core", "--config", await site.configure(config));
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client(postgres);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

interface ListedServer {
  readonly id: string;
  readonly state: string;
}

const admin = (...args: string[]) => (cores.at(-1) as Tollgate).admin(...args);

interface Customer {
  readonly account: string;
  readonly id: string;
  readonly key: string;
}

async function customer(rpm: string): Promise<Customer> {
  const { id: account } = (await admin("accounts", "create", "--name", "customer")) as { id: string };
  await admin("accounts", "top-up", account, "--usd", "10", "--ref", `payment-${account}`);
  return { account, ...((await admin("keys", "create", account, "--rpm", rpm)) as { id: string; key: string }) };
}

const ask = (key: string, content = "Tell me about toll gates.") =>
  fetch(`${facade.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: "tollgate-sim/plain",
      max_tokens: 20,
      messages: [{ role: "user", content }],
    }),
  });

const timesLogged = (start: string) =>
  cores.flatMap(({ log }) => log).filter(({ msg }) => String(msg).startsWith(start)).length;
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
      cores,
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
  // A core repeats a refusal for up to a second, in which the test's clock has moved.
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

test("a key is rotated without a gap: the new one works at once on every core, the old one through its overlap", async () => {
  const { id, key } = await customer("100000");
  const statuses = (secret: string) => Promise.all(Array.from({ length: 6 }, async () => (await ask(secret)).status));
  expect(await statuses(key)).toEqual(Array(6).fill(200));
  const next = (await admin("keys", "rotate", id, "--overlap", "1h")) as { id: string; key: string };
  expect(await statuses(next.key)).toEqual(Array(6).fill(200));
  expect(await statuses(key)).toEqual(Array(6).fill(200));
}, 60_000);

test("a revoked key stops on every core", async () => {
  const { id, key } = await customer("100000");
  const warm = await Promise.all(Array.from({ length: 8 }, () => ask(key)));
  expect(warm.map(({ status }) => status)).toEqual(Array(8).fill(200));
  await admin("keys", "revoke", id);
  const statuses = () => Promise.all(Array.from({ length: 4 }, async () => (await ask(key)).status));
  // How long it may take is tested with a clock of its own; a busy machine adds to it.
  await eventually("every core refuses it", async () => !(await statuses()).includes(200), 10);
  expect(await statuses()).toEqual([401, 401, 401, 401]);
}, 60_000);

test("what runs when its key is revoked, expires or loses the model, or its account is frozen, ends whole and is charged", async () => {
  const changes: readonly [status: number, change: (of: Customer) => readonly string[]][] = [
    [401, ({ id }) => ["keys", "revoke", id]],
    [401, ({ id }) => ["keys", "set-limits", id, "--expires", new Date(Date.now() + 500).toISOString()]],
    [404, ({ id }) => ["keys", "set-limits", id, "--models", "tollgate-sim/reasoner-on"]],
    [403, ({ account }) => ["accounts", "freeze", account, "--reason", "review"]],
  ];
  const tryChange = async ([status, change]: (typeof changes)[number]) => {
    const one = await customer("1000");
    await admin("keys", "set-limits", one.id, "--usd", "1", "--per", "month");
    let isOver = false; // a machine that is too busy shows less, and nothing wrong
    const running = ask(one.key, "[[sim:latency=1500]] Tell me about toll gates.").finally(() => {
      isOver = true;
    });
    await eventually("its money is held", async () => {
      const { held_usd } = (await admin("accounts", "show", one.account)) as { held_usd: string };
      return isOver || Number(held_usd) > 0;
    });
    await admin(...change(one));
    const answer = await running;
    const { usage } = (await answer.json()) as { usage: { cost: number } };
    expect([answer.status, usage.cost > 0]).toEqual([200, true]);
    await eventually("the next is refused", async () => {
      const { status: found } = await ask(one.key);
      return found === status;
    });
    // A core whose database is slow promises a charge in its journal first.
    const receipts = await eventually("the answer has its receipt", async () => {
      const found = (await admin("receipts", one.account)) as { request_id: string; cost_usd: string }[];
      return found.some(({ request_id }) => request_id === answer.headers.get("x-request-id")) ? found : undefined;
    });
    const used = (await admin("usage", "--account", one.account)) as { cost_usd: string }[];
    const sum = (rows: readonly { cost_usd: string }[]) =>
      rows.reduce((all, { cost_usd }) => all + (parseUsd(cost_usd) ?? 0n), 0n);
    expect(sum(used)).toBe(sum(receipts));
  };
  await Promise.all(changes.map(tryChange));
  expect(await admin("reconcile")).toMatchObject({ ok: true });
}, 60_000);

test("a request id of a caller's own gets nothing free on two cores, over Connect and gRPC, and tells others nothing", async () => {
  const [mine, other] = [await customer("100000"), await customer("100000")];
  const doors = cores.flatMap(({ addresses }) => [
    createConnectTransport({ baseUrl: `http://${addresses.connect}`, httpVersion: "1.1" }),
    createGrpcTransport({ baseUrl: `http://${addresses.grpc}` }),
  ]);
  const [door] = doors as [Transport];
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  /** The tokens of the answer, or why there is none. */
  const generate = async (transport: Transport, key: string, requestId: string) => {
    const prompt = { case: "text", value: "Tell me about toll gates." } as const;
    const asked = { requestId, model: "tollgate-sim/plain", prompt, maxOutputTokens: 20 };
    let tokens = 0;
    try {
      for await (const { events } of createClient(InferenceService, transport).generate(asked, bearer(key))) {
        for (const { event } of events) {
          if (event.case === "finished") {
            tokens = Number(event.value.usage?.outputTokens ?? 0n);
          }
        }
      }
    } catch (error) {
      return String(Reason[readDetail(error)?.reason ?? 0]);
    }
    return tokens;
  };
  for (const requestId of [newRequestId(systemRandom), `own-${mine.account}`]) {
    const answers = [];
    for (let round = 0; round < 3; round++) {
      answers.push(...(await Promise.all(doors.map((transport) => generate(transport, mine.key, requestId)))));
    }
    const delivered = answers.filter((answer) => typeof answer === "number");
    expect(delivered.length).toBeGreaterThanOrEqual(1);
    expect(new Set(answers.filter((answer) => typeof answer === "string"))).toEqual(new Set(["DUPLICATE_REQUEST"]));
    const runs = await eventually("each answer has its receipt", async () => {
      const found = await admin("receipt", requestId).catch(() => undefined);
      const { further_runs = [], ...first } = (found ?? {}) as Ran & { further_runs?: Ran[] };
      const all = found === undefined ? [] : [first, ...further_runs];
      return all.length >= delivered.length ? all : undefined;
    });
    expect(runs.map(({ output_tokens }) => output_tokens)).toEqual(delivered);
    expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(delivered.length);

    const metering = createClient(MeteringService, door);
    await expect(metering.getReceipt({ requestId }, bearer(other.key))).rejects.toMatchObject({ code: Code.NotFound });
    expect(await generate(door, other.key, requestId)).toBe(20);
    const receiptOf = (key: string) => metering.getReceipt({ requestId }, bearer(key));
    const foreign = await eventually("the other has its receipt", () => receiptOf(other.key).catch(() => undefined));
    expect(foreign).toMatchObject({ receipt: { accountId: other.account }, furtherRuns: [] });
    expect(await receiptOf(mine.key)).toMatchObject({ receipt: { accountId: mine.account } });
  }
  expect(await admin("reconcile")).toMatchObject({ ok: true });
}, 60_000);

/** What a receipt tells of a run. */
interface Ran {
  readonly run_id: string;
  readonly output_tokens: number;
}

test("a key's budget is spent exactly through every door of two cores, while it is rotated and raised", async () => {
  const { account } = await customer("1");
  const prompt = { case: "text", value: "[[sim:tokens=400]]" } as const;
  const generate = async (transport: Transport, secret: string) => {
    const asked = { requestId: newRequestId(systemRandom), model: "tollgate-sim/plain", prompt, maxOutputTokens: 400 };
    const options = { headers: { authorization: `Bearer ${secret}` } };
    try {
      for await (const _ of createClient(InferenceService, transport).generate(asked, options)) {
        // what is charged counts alone
      }
      return "";
    } catch (error) {
      return String(Reason[readDetail(error)?.reason ?? 0]);
    }
  };
  const post = async (secret: string) => {
    const response = await ask(secret);
    const { error } = (await response.json()) as { error?: { code: string; type: string } };
    return error && (error.code === "insufficient_quota" ? "BUDGET_EXHAUSTED" : error.type);
  };
  const doors = [
    post,
    ...cores
      .flatMap(({ addresses }) => [
        createConnectTransport({ baseUrl: `http://${addresses.connect}`, httpVersion: "1.1" }),
        createGrpcTransport({ baseUrl: `http://${addresses.grpc}` }),
      ])
      .map((transport) => (secret: string) => generate(transport, secret)),
  ];
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

test("a server that one core drains is drained by the other, and resumed", async () => {
  const states = async (id: unknown) => {
    const lists = await Promise.all(cores.map((core) => core.admin("servers", "list") as Promise<ListedServer[]>));
    return lists.map((list) => list.find((server) => server.id === id)?.state);
  };
  const [server] = (await admin("servers", "list")) as ListedServer[];
  await admin("servers", "drain", String(server?.id));
  await eventually("both drain it", async () => (await states(server?.id)).every((state) => state === "draining"));
  await cores[0]?.admin("servers", "resume", String(server?.id));
  await eventually("both resume it", async () => (await states(server?.id)).every((state) => state === "healthy"));
});

test("a core that is killed under load leaves the books right, and the other goes on", async () => {
  const { account, key } = await customer("100000");
  const acknowledged: { id: string; tokens: number }[] = [];
  let asking = true;
  const client = async () => {
    while (asking) {
      try {
        const response = await ask(key);
        const body = (await response.json()) as { usage?: { completion_tokens: number } };
        const id = response.headers.get("x-request-id");
        if (response.ok && id && body.usage) {
          acknowledged.push({ id, tokens: body.usage.completion_tokens });
        }
      } catch {
        // a connection that the killed core took with it
      }
    }
  };
  const clients = Array.from({ length: 8 }, client);
  const answered = (count: number) => eventually(`${count} requests are answered`, () => acknowledged.length >= count);
  await answered(5 * clients.length);
  const [victim, survivor] = cores as [Tollgate, Tollgate];
  await victim.stop("SIGKILL");
  cores = [survivor];
  await answered(acknowledged.length + 5 * clients.length);
  asking = false;
  await Promise.all(clients);
  // What the killed core had answered and not stored yet is in its journal.
  cores = [await startCore(sites[0] as Site), survivor];
  await eventually("every answer is in the books", async () => {
    const usage = (await admin("usage", "--account", account)) as { requests: number }[];
    return usage.reduce((sum, row) => sum + row.requests, 0) >= acknowledged.length;
  });
  for (const { id, tokens } of [...acknowledged.slice(0, 3), ...acknowledged.slice(-3)]) {
    expect(await admin("receipt", id)).toMatchObject({ account_id: account, output_tokens: tokens });
  }
  expect(await admin("reconcile")).toMatchObject({ ok: true });
}, 90_000);
