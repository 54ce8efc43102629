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
