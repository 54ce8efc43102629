import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { type ChannelTransport, createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { eventually } from "../support/eventually.ts";
import { pause } from "../support/pause.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { ask, FleetLoad, type Outcome } from "./fleet-load.ts";

// A service and its inference servers in processes of their own, under load, while the servers are killed,
// stopped, refuse, storm and come back. Round robin, so that every server gets its part of the requests.

const operatorToken = "operator-token-of-the-test-0123456789";
const limits = {
  ...{ queue_timeout_s: 10, connect_timeout_s: 2, first_token_timeout_s: 4, idle_timeout_s: 4, total_timeout_s: 30 },
  health_interval_s: 0.5,
};
/** The longest that a request may wait, begin and end, and as much again for a machine that is busy. */
const latest = 2 * 1000 * (limits.queue_timeout_s + limits.first_token_timeout_s + limits.idle_timeout_s);
const clients = 8;

let site: Site;
let tollgate: Tollgate;
let core: ChannelTransport;
let account: string;
let key: string;
const sims: Tollgate[] = [];
/** Every outcome of the whole file, for the books. */
const all: Outcome[] = [];

/** Answers of 30 tokens take a fifth of a second. */
const startSim = (port = "0", ...more: string[]) =>
  startTollgate(site, "sim", "--port", port, "--models", "m", "--speed", "3", ...more);
const portOf = (at: number) => new URL(sims[at]?.url ?? "").port;
const fault = (at: number, fault: object) =>
  fetch(`${sims[at]?.url}/sim/faults`, { method: "POST", body: JSON.stringify({ fault }) });
const clearFaults = (at: number) => fetch(`${sims[at]?.url}/sim/faults`, { method: "DELETE" });

beforeAll(async () => {
  site = await createSite({ TOLLGATE_OPERATOR_TOKEN: operatorToken });
  sims.push(...(await Promise.all([startSim(), startSim(), startSim()])));
  const servers = sims.map(({ url }) => ({ url, engine: "vllm", capacity: 32 }));
  const models = [{ id: "m", servers, routing: "round-robin", price: { input: "0.2", output: "0.4" } }];
  tollgate = await startTollgate(
    site,
    "serve",
    "--config",
    await site.configure({ ...freePorts, fleet: limits, models }),
  );
  core = createChannelTransport({ target: String(tollgate.addresses.grpc) });
  ({ id: account } = (await tollgate.admin("accounts", "create")) as { id: string });
  await tollgate.admin("accounts", "top-up", account, "--usd", "100", "--ref", "payment-1");
  ({ key } = (await tollgate.admin("keys", "create", account, "--rpm", "1000000")) as { key: string });
}, 90_000);

afterAll(async () => {
  core?.close();
  await tollgate?.stop();
  for (const sim of sims) {
    sim.process.kill("SIGCONT");
  }
  await Promise.all(sims.map((sim) => sim.stop("SIGKILL")));
  await site?.remove();
}, 60_000);

/** The servers in the configured order. */
async function servers(): Promise<Server[]> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  return (await createClient(CatalogueService, core).listServers({}, { headers })).servers;
}

/** Waits until a server is as it should be. */
async function until(at: number, is: (server: Server) => boolean): Promise<void> {
  await eventually(`server ${at} is as it should be`, async () => {
    const server = (await servers())[at];
    return server !== undefined && is(server);
  });
}

const serves = ({ state, breaker }: Server) => state === ServerState.HEALTHY && breaker === BreakerState.CLOSED;

/** Loads the service while something happens, and a little before and after. */
async function during(happening: () => Promise<unknown>): Promise<readonly Outcome[]> {
  const load = new FleetLoad(tollgate.url, key, clients);
  const more = () => {
    const enough = load.outcomes.length + 3 * clients;
    return eventually("every client was answered a few times", () => load.outcomes.length >= enough);
  };
  await more();
  await happening();
  await more();
  const outcomes = await load.stop();
  all.push(...outcomes);
  expect(outcomes.length).toBeGreaterThan(clients);
  expect(outcomes.filter(({ ms }) => ms > latest)).toEqual([]);
  return outcomes;
}

const failed = (outcomes: readonly Outcome[]) => outcomes.filter(({ whole }) => !whole);

test("a server that is killed takes what it had begun with it and nothing else; it comes back when it has loaded", async () => {
  const port = portOf(0);
  const outcomes = await during(async () => {
    await sims[0]?.stop("SIGKILL");
    await until(0, ({ state }) => state === ServerState.UNHEALTHY);
  });
  for (const outcome of failed(outcomes)) {
    expect(outcome).toMatchObject({ status: 200, began: true });
  }
  expect(failed(outcomes).length).toBeLessThanOrEqual(clients);
  expect(outcomes.slice(-clients).every(({ whole }) => whole)).toBe(true);

  const back = await during(async () => {
    sims[0] = await startSim(port, "--loading", "1500");
    expect((await servers())[0]?.state).toBe(ServerState.UNHEALTHY);
    await until(0, serves);
    await until(0, ({ inFlight }) => inFlight > 0);
  });
  expect(failed(back)).toEqual([]);
}, 60_000);

test("a server that stops holds its requests no longer than they may take, and gets no others", async () => {
  const outcomes = await during(async () => {
    sims[1]?.process.kill("SIGSTOP");
    await until(1, (server) => !serves(server));
    await until(1, ({ inFlight }) => inFlight === 0);
  });
  expect(failed(outcomes).length).toBeGreaterThan(0);
  expect(outcomes.slice(-clients).every(({ whole }) => whole)).toBe(true);
  for (const { status, began } of failed(outcomes)) {
    expect([status, began]).toEqual(began ? [200, true] : [504, false]);
  }

  const back = await during(async () => {
    sims[1]?.process.kill("SIGCONT");
    await until(1, serves);
    await until(1, ({ inFlight }) => inFlight > 0);
  });
  expect(failed(back)).toEqual([]);
}, 60_000);

test("a server that fails requests opens its breaker and closes it again, and no request is lost", async () => {
  const outcomes = await during(async () => {
    await fault(2, { status: 500 });
    await until(2, ({ breaker }) => breaker === BreakerState.OPEN);
    await clearFaults(2);
    await until(2, serves);
  });
  expect(failed(outcomes)).toEqual([]);
}, 60_000);

test("a server in a storm of 503 is spared for a while, and no request is lost", async () => {
  const outcomes = await during(async () => {
    await fault(1, { status: 503, retry: 1 });
    await until(1, ({ lastError }) => lastError.includes("503"));
    await pause(1000, "the storm goes on");
    await clearFaults(1);
    await until(1, ({ inFlight }) => inFlight > 0);
  });
  expect(failed(outcomes)).toEqual([]);
}, 60_000);

test("a storm of 503 on all servers is waited out, or told as such before anything began", async () => {
  const outcomes = await during(async () => {
    await Promise.all([0, 1, 2].map((at) => fault(at, { status: 503, retry: 1 })));
    await until(0, ({ lastError }) => lastError.includes("503"));
    await Promise.all([0, 1, 2].map(clearFaults));
  });
  for (const outcome of failed(outcomes)) {
    expect(outcome).toMatchObject({ status: 503, began: false });
  }
  expect(outcomes.slice(-clients).every(({ whole }) => whole)).toBe(true);
}, 60_000);

test("a drained server finishes its streams and can be taken away; resumed, it works again", async () => {
  const long = ask(tollgate.url, key, 400);
  const others = [ask(tollgate.url, key, 400), ask(tollgate.url, key, 400)];
  const { id } = (await servers())[0] as Server;
  const port = portOf(0);
  const outcomes = await during(async () => {
    await tollgate.admin("servers", "drain", id);
    await until(0, ({ inFlight }) => inFlight === 0);
    await sims[0]?.stop("SIGKILL");
  });
  for (const outcome of await Promise.all([long, ...others])) {
    expect(outcome).toMatchObject({ whole: true, tokens: 400 });
    all.push(outcome);
  }
  expect(failed(outcomes)).toEqual([]);
  sims[0] = await startSim(port);
  const back = await during(async () => {
    await tollgate.admin("servers", "resume", id);
    await until(0, serves);
    await until(0, ({ inFlight }) => inFlight > 0);
  });
  expect(failed(back)).toEqual([]);
}, 60_000);

test("whatever happened, everything was billed once, and what never began was not", async () => {
  const whole = all.filter((outcome) => outcome.whole);
  const broken = failed(all).filter(({ began }) => began);
  const usage = (await tollgate.admin("usage", "--account", account)) as { requests: number; output_tokens: number }[];
  const requests = usage.reduce((sum, row) => sum + row.requests, 0);
  expect(requests).toBeGreaterThanOrEqual(whole.length);
  expect(requests).toBeLessThanOrEqual(whole.length + broken.length);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(whole.every(({ tokens }) => tokens === 30 || tokens === 400)).toBe(true);
  for (const { id, tokens } of [...whole.slice(0, 2), ...whole.slice(-2)]) {
    expect(await tollgate.admin("receipt", id)).toMatchObject({ output_tokens: tokens, status: "completed" });
  }
  expect(await tollgate.admin("reconcile")).toMatchObject({ ok: true });
}, 60_000);
