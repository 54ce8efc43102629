import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { pause } from "../support/pause.ts";
import type { Tollgate } from "../support/tollgate.ts";
import { discrepancies } from "./books.ts";
import { Load } from "./load.ts";
import { startMetronome, testModel } from "./metronome.ts";
import { startService } from "./service.ts";

// What lasts longer than the 30 seconds for which a core's leases are good. Both run at the same time, each on a
// database server of its own.

const outageMs = 32_000;

let servers: [PostgresqlServer, PostgresqlServer];
beforeAll(async () => {
  servers = await Promise.all([startPostgresql(), startPostgresql()]);
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
});

/** What lots have paid of an account's debts. */
async function debtPaid(url: string, account: string): Promise<bigint> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ paid: string }>(
      `select coalesce(sum(lot_entry.amount), 0)::text as paid from lot_entry join lot on lot.id = lot_entry.lot_id
       where lot_entry.kind = 'debt' and lot.account_id = $1`,
      [account],
    );
    return BigInt(rows[0]?.paid ?? 0);
  } finally {
    await client.end();
  }
}

const said = ({ log }: Tollgate, message: string) => log.filter(({ msg }) => msg === message);
const uncharged = "a request was run but not charged";

test.concurrent("PostgreSQL is down for 30 seconds: what was acknowledged meanwhile is stored once it is back, each once", async () => {
  const [server] = servers;
  const metronome = await startMetronome();
  const service = await startService(metronome.url, { TOLLGATE_STORAGE_URL: await server.createDatabase() });
  const { account, key } = await service.books.customer(100n);
  const load = new Load(key);
  try {
    load.start(4, service.urls, 40);
    // These end one after the other, before, during and after the outage.
    const streams = Array.from({ length: 20 }, (_, at) => load.stream(service.urls[at % 2] ?? "", 400 + 320 * at));
    await eventually("requests are done", () => load.acknowledged.length >= 20);
    await server.crash();
    await pause(1000, "statements under way end in vain");
    const before = load.acknowledged.length;
    await pause(outageMs - 1000, "the outage lasts");
    const during = load.acknowledged.length - before;
    await server.restart();
    const asked = load.asked.length;
    await eventually("both processes take requests again", () => {
      const recent = load.asked.slice(asked).filter(({ acknowledged }) => acknowledged !== undefined);
      return recent.length >= 16;
    });
    await Promise.all([...streams, load.finish()]);
    expect(during).toBeGreaterThan(20);
    expect(new Set(load.asked.map(({ status }) => status))).toEqual(new Set([200, 503]));

    const receipts = async () => service.books.receiptsOf(load);
    await eventually(
      "the promised charges are stored",
      async () => discrepancies(load.acknowledged, await receipts()).length === 0,
    );
    expect(await service.books.requests(account)).toBe((await receipts()).size);
    expect(await service.books.reconcile()).toMatchObject({ ok: true, debtPicoUsd: "0" });
    for (const process of service.processes) {
      expect(said(process, uncharged)).toEqual([]);
    }
  } finally {
    await Promise.all([load.finish(), service.stop()]);
    await metronome.close();
    await service.remove();
  }
}, 300_000);

test.concurrent("a core sleeps past its lease: nothing is stored on what it has lost, the rest of the money pays at the rates of admission, or it is owed", async () => {
  const [, server] = servers;
  const url = await server.createDatabase();
  const metronome = await startMetronome();
  const service = await startService(metronome.url, { TOLLGATE_STORAGE_URL: url });
  const rich = await service.books.customer(100n);
  const loads = [new Load(rich.key)];
  try {
    const [sleeper, other] = service.processes as [Tollgate, Tollgate];
    const { accounts, prices } = service.books;
    const [poor, paysAnew] = [await service.books.customer(5n), await service.books.customer(5n)];
    const load = loads[0] as Load;
    const [last, dear] = [new Load(poor.key), new Load(paysAnew.key)];
    loads.push(last, dear);
    load.start(4, [other.url], 200);
    const streams = Array.from({ length: 10 }, () => load.stream(sleeper.url, 1000));
    // All that the poor account has is held by one stream on the core that falls asleep.
    const { account } = await accounts.getAccount({ accountId: poor.account });
    await accounts.refund({ accountId: poor.account, amountPicoUsd: 4_999_000_000_000n, reference: "rest" });
    await accounts.refund({ accountId: paysAnew.account, amountPicoUsd: 4_999_000_000_000n, reference: "most" });
    const owed = last.stream(sleeper.url, 4000);
    const capped = dear.stream(sleeper.url, 4000);
    await eventually("its streams run", () => loads.every(({ asked }) => asked.every(({ status }) => status === 200)));
    sleeper.process.kill("SIGSTOP");
    const lost = () => said(other, "gave back what dead cores had leased").length > 0;
    await eventually("its leases are given back", lost, 60); // they are good for 30 s, and their end is looked for once in a while
    // The other core spends what the sleeping one had held, at once: the test would wait for its 4,000 tokens alone.
    metronome.hasten(10);
    await last.stream(other.url, 4000);
    const spent = await accounts.getAccount({ accountId: poor.account });
    // What the sleeping one had held of another account is gone, and its new money came in at ten times the price.
    await accounts.refund({ accountId: paysAnew.account, amountPicoUsd: 1_000_000_000n, reference: "all" });
    const raised = { inputPicoUsdPerToken: 2_000_000n, outputPicoUsdPerToken: 2_500_000n };
    await prices.setPrice({ model: testModel, ...raised });
    await accounts.topUp({ accountId: paysAnew.account, amountPicoUsd: 5_000_000_000_000n, reference: "anew" });
    sleeper.process.kill("SIGCONT");
    await Promise.all([...streams, owed, capped, load.finish()]);

    expect(account?.balancePicoUsd).toBe(5_000_000_000_000n);
    expect(spent.account?.balancePicoUsd).toBeLessThan(100_000_000n);
    expect(load.acknowledged).toHaveLength(load.asked.length);
    for (const one of loads) {
      await eventually("the promised charges are stored", async () => {
        return discrepancies(one.acknowledged, await service.books.receiptsOf(one)).length === 0;
      });
    }
    expect(await service.books.requests(rich.account)).toBe(load.asked.length);
    const late = await service.books.receipt((await owed).id);
    expect(late?.shortfallPicoUsd).toBeGreaterThan(0n);
    const paid = await service.books.receipt((await capped).id);
    const { inputTokens = 0, outputTokens = 0 } = paid ?? {};
    expect(outputTokens).toBeGreaterThan(0);
    expect(paid).toMatchObject({
      costPicoUsd: BigInt(inputTokens) * 200_000n + BigInt(outputTokens) * 250_000n,
      shortfallPicoUsd: 0n,
      lines: [{ inputPicoUsdPerToken: 200_000n, outputPicoUsdPerToken: 250_000n }],
    });
    // What was left of the account's money has paid a part of it, as a line or as a debt that a lot paid, whichever core had
    // it then, and what is still owed is the rest, to the last pico-USD. Money that came back since then pays within a minute.
    const { costPicoUsd: cost = 0n, shortfallPicoUsd: shortfall = 0n } = late ?? {};
    // The debt and what has paid of it are read at two moments.
    await eventually("the shortfall is owed or paid", async () => {
      const { account: after } = await accounts.getAccount({ accountId: poor.account });
      const { balancePicoUsd: left = 0n, debtPicoUsd: debt = 0n } = after ?? {};
      const isWhole = debt + (await debtPaid(url, poor.account)) === shortfall;
      return isWhole && left - debt === (spent.account?.balancePicoUsd ?? 0n) - cost;
    });
    // A lot's spending is that of its closed slices: a row stored on one of them later would show here.
    expect(await service.books.reconcile()).toMatchObject({ ok: true, findings: [] });
    // Charges made before it noticed its loss were refused; those after that were paid anew at once.
    expect(said(sleeper, "a charge came after its slices were lost").length).toBeGreaterThan(0);
    for (const process of service.processes) {
      expect(said(process, uncharged)).toEqual([]);
    }
  } finally {
    for (const { process } of service.processes) {
      process.kill("SIGCONT");
    }
    await Promise.all([...loads.map((load) => load.finish()), service.stop()]);
    await metronome.close();
    await service.remove();
  }
}, 300_000);
