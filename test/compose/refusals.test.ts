import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// From the x-request-id of a refused request to the one line of the log that says whose it was and why.

const model = "tollgate-sim/plain";
let site: Site;
let tollgate: Tollgate;
let key: string;
let account: string;
beforeAll(async () => {
  site = await createSite();
  tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  account = ((await tollgate.admin("accounts", "create")) as { id: string }).id;
  key = ((await tollgate.admin("keys", "create", account)) as { key: string }).key;
}, 60_000);
afterAll(async () => {
  await tollgate.stop();
  await site.remove();
});

const messages = [{ role: "user", content: "Hello" }];

/** The status of a request, and the lines of the log that have its id. */
async function ask(path: string, body: string, credential = key) {
  const headers = { authorization: `Bearer ${credential}` };
  const response = await fetch(tollgate.url + path, { method: "POST", headers, body });
  await response.text();
  const id = response.headers.get("x-request-id");
  const lines = await eventually("its line is logged", () => {
    const found = tollgate.log.filter(({ requestId }) => requestId === id);
    return found.length === 0 ? undefined : found;
  });
  return { status: response.status, lines };
}

test.each(["/v1/chat/completions", "/v1/messages"])(
  "%s: each refusal is one line that says whose it was",
  async (path) => {
    const body = (asked: string) => JSON.stringify({ model: asked, max_tokens: 5, messages });
    const address = "127.0.0.1";
    const last4 = key.slice(-4);
    const mistyped = `${key.slice(0, -4)}0000`;
    expect(await ask(path, body(model), mistyped)).toMatchObject({
      status: 401,
      lines: [{ reason: "UNAUTHENTICATED", key: "0000", address }],
    });
    expect(await ask(path, body("no-such-model"))).toMatchObject({
      status: 404,
      lines: [{ reason: "MODEL_NOT_FOUND", account, key: last4, address }],
    });
    expect(await ask(path, "{")).toMatchObject({ status: 400, lines: [{ status: 400, address }] });
    await tollgate.admin("accounts", "freeze", account, "--reason", "A test.");
    expect(await ask(path, body(model))).toMatchObject({
      status: 403,
      lines: [{ reason: "ACCOUNT_FROZEN", account, key: last4, address }],
    });
    await tollgate.admin("accounts", "unfreeze", account);
  },
);
