import { inspect } from "node:util";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { pause } from "../support/pause.ts";
import type { Tollgate } from "../support/tollgate.ts";
import { discrepancies } from "./books.ts";
import { describeCore } from "./core-state.ts";
import { type Asked, Load } from "./load.ts";
import { startMetronome } from "./metronome.ts";
import { type Service, startService } from "./service.ts";

const clients = 8;
const streamsAcross = 8;
/** An answer of a client that asks again and again; one of a stream that runs while the primary dies, six seconds long. */
const shortTokens = 20;
const longTokens = 1200;
/** How long clients rest between two requests while streams end and servers are made. They ask at once amid a failover. */
const restMs = 50;
const usd = 1000n;
/** In pico-USD a token, as the service under test is configured. */
const price = { input: 200_000n, output: 250_000n };

/** What was seen of a primary that died: the one that came after it, and the clients. */
export interface Round {
  /** From the end of the promotion until every core has answered a customer that it did not know. */
  readonly servedAgainMs: number;
  /** Streams that ran while the primary died and did not reach their end. */
  readonly cut: number;
  /** Connections that cores keep to the old primary after it came back beside the new one. */
  readonly strayed: number;
}

/** What the books say in the end. */
export interface Failovers {
  readonly rounds: readonly Round[];
  /** Requests whose clients were told their usage. */
  readonly acknowledged: number;
  /** Of them: not charged, or not as their clients were told. */
  readonly lost: readonly string[];
  /** Charges of requests that no client was answered, or second ones. */
  readonly double: number;
  /** Whether the books balance, and hold exactly what clients were told. */
  readonly proved: boolean;
}

/**
 * Kills the primary of a pair with a synchronous standby under the load of two cores, as often as there are delays
 * (milliseconds after the streams began). Each time the standby is promoted, the old primary comes back beside it, and
 * then becomes a standby of the new one.
 */
export async function failOver(delays: readonly number[], progress = (_: string) => {}): Promise<Failovers> {
  const metronome = await startMetronome();
  let primary = await startPostgresql();
  let standby = await primary.startStandby();
  const database = new URL(await primary.createDatabase());
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const url = `${database.href.replace(database.host, hosts)}?target_session_attrs=read-write`;
  const service = await startService(metronome.url, { TOLLGATE_STORAGE_URL: url });
  const rounds: Round[] = [];
  const loads: Load[] = [];
  try {
    await primary.setSynchronous(true);
    const customer = await service.books.customer(usd);
    const load = new Load(customer.key);
    loads.push(load);
    load.rest(restMs);
    load.start(clients, service.urls, shortTokens);
    for (const delay of delays) {
      const newcomer = new Load((await service.books.customer(usd)).key);
      loads.push(newcomer);
      const streams = await Promise.all(Array.from({ length: streamsAcross }, (_, at) => begin(load, service, at)));
      load.rest(0);
      await pause(delay, "the moment of the kill is random");
      await primary.crash();
      await standby.promote();
      const promotedAt = performance.now();
      await Promise.all(service.processes.map((core) => isServed(newcomer, core, standby)));
      const servedAgainMs = performance.now() - promotedAt;
      load.rest(restMs);
      const cut = (await Promise.all(streams.map(({ end }) => end))).filter(
        ({ acknowledged }) => acknowledged === undefined,
      ).length;
      await primary.restart();
      await standby.disconnect(database.pathname.slice(1));
      const before = load.acknowledged.length;
      await eventually(
        "clients are answered beside the old primary",
        () => load.acknowledged.length > before + clients,
      );
      const strayed = await countStaying(() => primary.connections(database.pathname.slice(1)));
      await primary.stop();
      [primary, standby] = [standby, await standby.startStandby(primary.port)];
      await primary.setSynchronous(true);
      rounds.push({ servedAgainMs, cut, strayed });
      progress(`failover ${rounds.length}: served again after ${Math.round(servedAgainMs)} ms, ${cut} streams cut`);
    }
    await Promise.all(loads.map((each) => each.finish()));
    return { rounds, ...(await compare(service, loads)) };
  } finally {
    await Promise.all(loads.map((each) => each.finish()));
    await service.stop();
    await service.remove();
    await standby.stop();
    await primary.stop();
    await metronome.close();
  }
}

/** What a failover to a standby that lags has shown. */
export interface LaggingFailover extends Omit<Failovers, "rounds"> {
  /** The most requests that the standby may lack: all that were not over before it followed no longer. */
  readonly most: number;
  /** Requests that cores have told to be lost by the database, and made again. */
  readonly putBack: ReadonlySet<string>;
  /** Why a core does not start while the old primary alone is there. */
  readonly refusal: string;
}

/** Kills the primary of a pair whose standby does not follow any more, under the load of two cores, and promotes the standby. */
export async function failOverLagging(behind: number): Promise<LaggingFailover> {
  const metronome = await startMetronome();
  const primary = await startPostgresql();
  const standby = await primary.startStandby();
  const database = new URL(await primary.createDatabase());
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const url = `${database.href.replace(database.host, hosts)}?target_session_attrs=read-write`;
  const service = await startService(metronome.url, { TOLLGATE_STORAGE_URL: url });
  const loads: Load[] = [];
  try {
    const load = new Load((await service.books.customer(usd)).key);
    loads.push(load);
    load.start(clients, service.urls, shortTokens);
    await eventually("clients are answered", () => load.acknowledged.length > behind);
    const before = load.acknowledged.length;
    await standby.cutOff();
    await eventually("nothing is replicated", async () => (await primary.standbys()) === 0);
    const since = load.acknowledged.length;
    await eventually(
      "charges are acknowledged that the standby lacks",
      () => load.acknowledged.length > since + behind,
    );
    const most = load.asked.length - before;
    await primary.crash();
    await standby.promote();
    const again = load.acknowledged.length;
    await eventually("clients are answered by the new primary", () => load.acknowledged.length > again + clients);
    await load.finish();
    const compared = await compare(service, loads);
    const told = service.processes.flatMap(({ log }) => log.filter(({ msg }) => msg === lostMessage));
    const putBack = new Set(told.flatMap(({ requests }) => requests as string[]));
    await service.kill();
    await standby.crash();
    await primary.restart();
    const refusal = await service.restart().then(
      () => "",
      (error: unknown) => String(error),
    );
    await standby.restart();
    return { ...compared, most, putBack, refusal };
  } finally {
    await Promise.all(loads.map((each) => each.finish()));
    await service.stop().catch(() => {});
    await service.remove();
    await standby.stop();
    await primary.stop();
    await metronome.close();
  }
}

const lostMessage = "the database has lost charges: they are made again";

/** Asks until a stream runs, which a core refuses while it finds no database. */
async function begin(load: Load, { urls }: Service, at: number): Promise<{ end: Promise<Asked> }> {
  return eventually("a stream runs", async () => {
    const end = load.stream(urls[at % urls.length] ?? "", longTokens);
    const asked = load.asked.at(-1) as Asked;
    let ended = false;
    const over = end.finally(() => {
      ended = true;
    });
    await eventually("it is answered", () => asked.seen > 0 || ended);
    return asked.seen > 0 ? { end: over } : undefined;
  });
}

/** A core that looks for the primary asks each host who it is, and leaves at once: what is still there later has stayed. */
async function countStaying(connections: () => Promise<number[]>): Promise<number> {
  const before = new Set(await connections());
  await pause(before.size === 0 ? 0 : 2000, "a core that only asked has left by then");
  return (await connections()).filter((pid) => before.has(pid)).length;
}

/** Waits until a core has answered a customer that it did not know. Throws with the state of the core. */
async function isServed(newcomer: Load, core: Tollgate, primary: PostgresqlServer): Promise<void> {
  let last: Asked | undefined;
  const ask = async () => {
    last = await newcomer.stream(core.url, shortTokens);
    return last.acknowledged;
  };
  await eventually("a newcomer is served", ask).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${inspect(last)}\n${await describeCore(core, primary)}`);
  });
}

/** Compares what clients were told with the books, once every charge that waited in a journal is made. */
async function compare({ books }: Service, loads: readonly Load[]) {
  const asked = loads.flatMap((load, at) => load.asked.map((one) => ({ ...one, name: `${at} ${one.name}` })));
  const acknowledged = asked.filter((one) => one.acknowledged !== undefined);
  const told = acknowledged.reduce(
    (sum, { acknowledged: usage }) =>
      sum + BigInt(usage?.inputTokens ?? 0) * price.input + BigInt(usage?.outputTokens ?? 0) * price.output,
    0n,
  );
  const isEven = async () => BigInt((await books.reconcile()).spentPicoUsd) >= told;
  await eventually("charges that waited are made", isEven).catch(() => {}); // what is lost never is
  const proof = await books.reconcile();
  const lost = discrepancies(acknowledged, await books.receiptsOf({ asked }));
  let charged = 0;
  for (const { id } of (await books.accounts.listAccounts({ pageSize: 1000 })).accounts) {
    charged += await books.requests(id);
  }
  const begun = asked.filter(({ status }) => status === 200).length;
  return {
    acknowledged: acknowledged.length,
    lost,
    double: Math.max(0, charged - begun),
    proved: proof.ok && BigInt(proof.spentPicoUsd) === told,
  };
}
