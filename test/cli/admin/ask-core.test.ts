import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { systemClock } from "#lib/time/clock.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { runHere } from "../../support/run-here.ts";
import { program } from "../../support/tollgate.ts";

const environment = { TOLLGATE_OPERATOR_TOKEN: "secret" };
const list = (...args: string[]) => runHere(["accounts", "list", ...args], environment);

test.each([
  "192.0.2.1:50051",
  "core.example:50051",
  "dns:///core.example:50051",
  "ipv4:127.0.0.1:1,192.0.2.1:50051",
  "ipv6:[2001:db8::1]:50051",
  "[2001:db8::1]:50051",
])("the operator token is not sent in clear to %s", async (target) => {
  const { code, notes } = await list("--core", target);
  expect(code).toBe(1);
  expect(notes).toContain(`${target} is not this machine`);
  expect(notes).toContain("--insecure");
});

test.each([
  ["this machine", ["--core", "127.0.0.1:1"]],
  ["this machine by name", ["--core", "dns:///localhost:1"]],
  ["this machine's addresses", ["--core", "ipv4:127.0.0.1:1,127.0.0.2:1"]],
  ["this machine over IPv6", ["--core", "[::1]:1"]],
  ["another one that the operator allows", ["--core", "dns:///core.invalid:1", "--insecure"]],
])("%s is asked, and here nobody answers", async (_what, args) => {
  const { code, notes } = await list(...args);
  expect(code).toBe(1);
  expect(notes).toContain("no core answers");
});

/** Has a process tell at its end which modules of Node.js's own it has loaded. */
const tellModules = `data:text/javascript,process.on("exit",()=>console.error(JSON.stringify(process.moduleLoadList)))`;

test("an answered command has not loaded fetch, which would cost it a quarter more", async () => {
  const services = [registration(AccountsService, { listAccounts: () => ({ accounts: [] }) })];
  const core = await startGrpcServer({ address: "127.0.0.1:0", services, interceptors: [] });
  try {
    const args = ["--import", tellModules, program, "accounts", "list", "--json", "--core", core.address];
    const env = { ...process.env, ...environment };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toEqual([]);
    const loaded = JSON.parse(stderr.trim().split("\n").at(-1) ?? "") as string[];
    expect(loaded).toContain("NativeModule http2");
    expect(loaded.filter((name) => name.includes("undici"))).toEqual([]);
  } finally {
    await core.stop(0);
  }
});

test.each([
  ["a refusal", Reason.ACCOUNT_NOT_FOUND],
  ["a credential that is refused", Reason.UNAUTHENTICATED],
])("%s is shown with the id by which the core's log has it", async (_what, reason) => {
  const ids: string[] = [];
  const refusing = {
    listAccounts() {
      throw failure(reason, "No.");
    },
  };
  const core = await startGrpcServer({
    address: "127.0.0.1:0",
    services: [registration(AccountsService, refusing)],
    interceptors: [observeCalls(systemClock, [({ requestId }) => void ids.push(requestId)])],
  });
  try {
    const { code, notes } = await list("--core", core.address);
    expect(code).toBe(1);
    expect(ids).toEqual([expect.stringMatching(/^req_[0-9a-f]{32}$/)]);
    expect(notes).toContain(`(request ${ids[0]})`);
  } finally {
    await core.stop(0);
  }
});
