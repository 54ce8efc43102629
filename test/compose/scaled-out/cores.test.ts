import { Code, createClient, type Transport } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { parseUsd } from "#lib/money/money.ts";
import { eventually } from "../../support/eventually.ts";
import { type Customer, generate, twoCores } from "./two-cores.ts";

const scaled = twoCores();
const { admin, ask, customer } = scaled;

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
  const doors = scaled.doors();
  const [door] = doors as [Transport];
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const prompt = { case: "text", value: "Tell me about toll gates." } as const;
  const askAt = (at: Transport, key: string, requestId: string) =>
    generate(at, key, { requestId, prompt, maxOutputTokens: 20 });
  for (const requestId of [newRequestId(systemRandom), `own-${mine.account}`]) {
    const answers = [];
    for (let round = 0; round < 3; round++) {
      answers.push(...(await Promise.all(doors.map((at) => askAt(at, mine.key, requestId)))));
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
    expect(await askAt(door, other.key, requestId)).toBe(20);
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

interface ListedServer {
  readonly id: string;
  readonly state: string;
}
test("a server that one core drains is drained by the other, and resumed", async () => {
  const states = async (id: unknown) => {
    const lists = await Promise.all(
      scaled.cores.map((core) => core.admin("servers", "list") as Promise<ListedServer[]>),
    );
    return lists.map((list) => list.find((server) => server.id === id)?.state);
  };
  const [server] = (await admin("servers", "list")) as ListedServer[];
  await admin("servers", "drain", String(server?.id));
  await eventually("both drain it", async () => (await states(server?.id)).every((state) => state === "draining"));
  await scaled.cores[0]?.admin("servers", "resume", String(server?.id));
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
  await scaled.killFirst();
  await answered(acknowledged.length + 5 * clients.length);
  asking = false;
  await Promise.all(clients);
  // What the killed core had answered and not stored yet is in its journal.
  await scaled.restartFirst();
  await eventually("every answer is in the books", async () => {
    const usage = (await admin("usage", "--account", account)) as { requests: number }[];
    return usage.reduce((sum, row) => sum + row.requests, 0) >= acknowledged.length;
  });
  for (const { id, tokens } of [...acknowledged.slice(0, 3), ...acknowledged.slice(-3)]) {
    expect(await admin("receipt", id)).toMatchObject({ account_id: account, output_tokens: tokens });
  }
  expect(await admin("reconcile")).toMatchObject({ ok: true });
}, 90_000);
