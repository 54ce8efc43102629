import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

// An internal service with a generated client against the real program, as docs/grpc.md tells.

const token = "service-token-of-batch-0123456789";
const model = "tollgate-sim/plain";
const example = fileURLToPath(new URL("../../../docs/examples/client.ts", import.meta.url));
let site: Site;
let tollgate: Tollgate;
let account: string;

beforeAll(async () => {
  site = await createSite({ BATCH_TOKEN: token });
  const config = { ...freePorts, services: [{ name: "batch", token_env: "BATCH_TOKEN" }] };
  tollgate = await startTollgate(site, "serve", "--config", await site.configure(config));
  ({ id: account } = (await tollgate.admin("accounts", "create")) as { id: string });
}, 60_000);
afterAll(async () => {
  await tollgate?.stop();
  await site?.remove();
});

const runExample = (...args: string[]) => promisify(execFile)(process.execPath, [example, ...args], { env: site.env });

test("the example client streams an answer that the named account pays for", async () => {
  const { stdout } = await runExample(`http://${tollgate.addresses.grpc}`, token, account, model);
  expect(stdout).toMatch(/\w+.*\n20 tokens\n$/s);
  const shown = (await tollgate.admin("accounts", "show", account)) as { balance_usd: string };
  expect(Number(shown.balance_usd)).toBeLessThan(1);
});

test("the example client names the reason of a refusal", async () => {
  const run = runExample(`http://${tollgate.addresses.grpc}`, token, account, "unknown");
  await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^NotFound MODEL_NOT_FOUND /) });
});

test.each([
  ["without an account", { authorization: `Bearer ${token}` }, 10_000, Code.PermissionDenied, Reason.PERMISSION_DENIED],
  ["with a wrong token", { authorization: "Bearer wrong" }, 10_000, Code.Unauthenticated, Reason.UNAUTHENTICATED],
  ["without any", {}, 10_000, Code.Unauthenticated, Reason.UNAUTHENTICATED],
  ["after its deadline", { authorization: `Bearer ${token}` }, 1, Code.DeadlineExceeded, undefined],
] as const)("a call %s", async (_, headers, timeoutMs, code, reason) => {
  const baseUrl = `http://${tollgate.addresses.grpc}`;
  const inference = createClient(InferenceService, createGrpcTransport({ baseUrl }));
  const paying = timeoutMs === 1 ? { ...headers, "x-tollgate-account": account } : headers;
  const error = await drain(
    inference.generate({ model, prompt: { case: "text", value: "a" } }, { headers: paying, timeoutMs }),
  );
  expect(error.code).toBe(code);
  expect(error.findDetails(ErrorDetailSchema)[0]?.reason).toBe(reason);
});

test("the Connect port speaks JSON to plain HTTP clients", async () => {
  const ask = (path: string, headers = {}) =>
    fetch(`http://${tollgate.addresses.connect}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: "{}",
    });
  const models = (await (await ask("tollgate.catalogue.v1.CatalogueService/ListModels")).json()) as {
    models: { id: string }[];
  };
  expect(models.models.map(({ id }) => id)).toContain(model);
  const refused = await ask("tollgate.metering.v1.BooksService/Reconcile", { authorization: `Bearer ${token}` });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ code: "permission_denied" });
});

async function drain(answer: AsyncIterable<unknown>): Promise<ConnectError> {
  try {
    for await (const _ of answer) {
    }
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("the call succeeded");
}
