import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { runHere } from "../support/run-here.ts";
import { operatorToken } from "./books.ts";
import { Load } from "./load.ts";
import { type Metronome, startMetronome } from "./metronome.ts";
import { type Service, startService } from "./service.ts";

let primary: PostgresqlServer;
let standby: PostgresqlServer;
let metronome: Metronome;
let service: Service;
let key: string;

beforeAll(async () => {
  [primary, metronome] = await Promise.all([startPostgresql(), startMetronome()]);
  standby = await primary.startStandby();
  const url = await primary.createDatabase();
  const readUrl = url.replace(`:${primary.port}/`, `:${standby.port}/`);
  const shared = { TOLLGATE_STORAGE_URL: url, TOLLGATE_STORAGE_READ_URL: readUrl };
  service = await startService(metronome.url, shared, { processes: 1 });
  ({ key } = await service.books.customer(100n));
  expect((await new Load(key).stream(String(service.urls[0]), 20)).acknowledged).toBeDefined();
}, 180_000);
afterAll(async () => {
  await service?.stop();
  await service?.remove();
  await Promise.all([metronome?.close(), standby?.stop()]);
  await primary?.stop();
}, 120_000);

const moment = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
const notePattern = new RegExp(`^as of ${moment.source}: a standby told it$`);

function command(...args: string[]) {
  const target = String(service.processes[0]?.addresses.grpc);
  return runHere([...args, "--core", target, "--json"], { TOLLGATE_OPERATOR_TOKEN: operatorToken });
}

async function asKey(path: string) {
  const answer = await fetch(`${service.urls[0]}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return answer.json() as Promise<Record<string, unknown>>;
}

test("whoever asks is told that a standby answered, and of which moment", async () => {
  const usage = async () => {
    const { code, output, notes } = await command("usage");
    expect(code).toBe(0);
    const [row] = JSON.parse(output) as { requests?: number }[];
    return row?.requests === 1 ? notes : undefined;
  };
  expect(await eventually("the standby has the charge", usage)).toMatch(notePattern);
  expect((await command("receipts")).notes).toMatch(notePattern);
  expect((await command("requests")).notes).toMatch(notePattern);
  const { output } = await command("reconcile");
  expect(JSON.parse(output)).toMatchObject({ ok: true, as_of: expect.stringMatching(moment) });
  expect(await asKey("/v1/usage")).toMatchObject({ as_of: expect.stringMatching(moment), data: [{ requests: 1 }] });
  const metrics = await (await fetch(`http://${service.processes[0]?.addresses.admin}/metrics`)).text();
  expect(metrics).toMatch(/^tollgate_long_reads_total\{from="standby"\} [1-9]/m);
  expect(metrics).toMatch(/^tollgate_standby_age_seconds \d/m);
}, 60_000);

test("what a key has left is never a standby's to tell, and nothing is said of an age where the primary answers", async () => {
  expect(await asKey("/v1/credits")).toMatchObject({ data: { total_credits: 100 } });
  await standby.crash();
  const { notes, output } = await command("usage");
  expect(notes).toBe("");
  expect(JSON.parse(output)).toMatchObject([{ requests: 1 }]);
  expect(await asKey("/v1/usage")).not.toHaveProperty("as_of");
  const { log } = service.processes[0] ?? { log: [] };
  const isTold = () => log.some(({ msg }) => msg === "the standby does not answer");
  await eventually("the log tells it", isTold);
}, 60_000);
