import { spawn } from "node:child_process";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { type Service, startService } from "../support/service.ts";

// A connection of this very thread has the file, as a disk that does not answer: if anything here waited for it, it would
// wait for ever, because only this thread can let go.

let service: Service;
let disk: DatabaseSync;
beforeAll(async () => {
  service = await startService();
  disk = new DatabaseSync(service.database, { timeout: 5000 });
}, 60_000);
afterAll(async () => {
  disk.close();
  await service[Symbol.asyncDispose]();
});

test("nobody who reads or streams waits while people sign in and operators change things on a slow disk", async () => {
  const [accounts, operators, sessions] = [
    createClient(AccountsService, service.operator),
    createClient(OperatorsService, service.operator),
    createClient(SessionsService, service.operator),
  ];
  const { account } = await accounts.createAccount({});
  const accountId = account?.id ?? "";
  const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
  const chat = async () => {
    const body = JSON.stringify({ model: "tollgate-sim/plain", messages: [{ role: "user", content: "hello" }] });
    const response = await fetch(`${service.url}/v1/chat/completions`, { method: "POST", headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  expect(await chat()).toBe(200);
  disk.exec("begin immediate");
  const opened = jest.spyOn(DatabaseSync.prototype, "prepare");
  let done = 0;
  const changes = Array.from({ length: 8 }, (_, at) => [
    sessions.createSession({}),
    accounts.createKey({ accountId }),
    accounts.createAccount({ name: `account ${at}` }),
    operators.createOperator({ name: `operator ${at}`, role: 1 }),
  ])
    .flat()
    .map(async (change: Promise<unknown>) => {
      await change;
      done += 1;
    });
  for (let round = 0; round < 3; round += 1) {
    expect((await fetch(`${service.url}/v1/key`, { headers })).status).toBe(200);
    expect((await fetch(`${service.url}/v1/credits`, { headers })).status).toBe(200);
    expect(await chat()).toBe(200);
  }
  expect(done).toBe(0);
  expect(opened.mock.calls.filter(([sql]) => !sql.startsWith("begin"))).toEqual([]); // this thread asks no file anything
  opened.mockRestore();
  disk.exec("rollback");
  await Promise.all(changes);
}, 60_000);

/** Milliseconds for which another process keeps the disk. */
const heldMs = 3000;

/** Has another process keep the file's lock for a while, from when this resolves. */
async function holdElsewhere(): Promise<{ readonly released: Promise<unknown> }> {
  const script = `
    const { DatabaseSync } = require("node:sqlite");
    const disk = new DatabaseSync(process.argv[1], { timeout: 5000 });
    disk.exec("begin immediate");
    console.log("held");
    globalThis.setTimeout(() => disk.exec("rollback"), ${heldMs});`;
  const holder = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "-e", script, service.database], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const released = once(holder, "exit");
  await Promise.race([once(holder.stdout, "data"), released]);
  return { released };
}

test("no turn of the event loop lasts as long as another process keeps the disk", async () => {
  const [accounts, operators, own, guest] = [
    createClient(AccountsService, service.operator),
    createClient(OperatorsService, service.operator),
    createClient(SessionsService, service.operator),
    createClient(SessionsService, service.transport),
  ];
  const secret = await service.anotherKey();
  const customer = { headers: { authorization: `Bearer ${secret}` } };
  const { account } = await accounts.createAccount({});
  const accountId = account?.id ?? "";
  const { key } = await accounts.createKey({ accountId });
  const links = await Promise.all([own.createSignInLink({}), own.createSignInLink({})]);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  const { released } = await holdElsewhere();
  let isOver = false;
  void released.then(() => {
    isOver = true;
  });
  delay.enable();
  const before = isOver;
  await Promise.all([
    ...links.map(({ token }) => guest.redeemSignInLink({ token })),
    guest.createSession({}, customer),
    own.createSession({}),
    accounts.updateAccount({ accountId, name: "renamed" }),
    accounts.topUp({ accountId, amountPicoUsd: 10n * 10n ** 12n, reference: "slow disk" }),
    accounts.revokeKey({ keyId: key?.id ?? "" }),
    accounts.createKey({ accountId }),
    operators.createOperator({ name: "on a slow disk", role: 1 }),
  ]);
  await released;
  delay.disable();
  expect(before).toBe(false); // the disk was kept when the changes began
  expect(delay.max / 1e6).toBeLessThan(heldMs - 500);
}, 60_000);
