import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Outcome, runHere } from "../../support/run-here.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

const uuid = /^[0-9a-f-]{36}$/;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const testModel = "tollgate-sim/plain";

let site: Site;
let service: Tollgate;
beforeAll(async () => {
  site = await createSite();
  service = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
}, 60_000);
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await site.remove();
});

/** Runs a command with an operator's own token, or with the configured one. */
function by(token: string | undefined, ...args: string[]): Promise<Outcome> {
  const env = token === undefined ? site.env : { ...site.env, TOLLGATE_OPERATOR_TOKEN: token };
  return runHere([...args, "--core", service.addresses.grpc ?? "", "--json"], env);
}

async function json(token: string | undefined, ...args: string[]) {
  const { code, output, notes } = await by(token, ...args);
  expect({ code, notes }).toEqual({ code: 0, notes: "" });
  return JSON.parse(output);
}

test("an operator is made, listed and revoked; a token is shown once and ends at once", async () => {
  const made = await json(undefined, "operators", "create", "--name", "Ada", "--role", "owner");
  expect(made).toEqual({ id: expect.stringMatching(uuid), token: expect.stringMatching(/^tgop_[0-9A-Za-z]{49}$/) });
  const row = { id: made.id, name: "Ada", role: "owner", created_at: expect.stringMatching(iso), revoked_at: null };
  expect(await json(made.token, "operators", "list")).toEqual([row]);
  expect((await by(undefined, "operators", "create", "--name", "Ada", "--role", "reader")).notes).toMatch(/Ada/);
  expect((await by(undefined, "operators", "create", "--name", "root", "--role", "reader")).notes).toMatch(/root/);
  expect((await by(undefined, "operators", "create", "--name", "Bo", "--role", "king")).code).toBe(1);
  const revoked = await json(made.token, "operators", "revoke", made.id);
  expect(revoked).toEqual({ ...row, revoked_at: expect.stringMatching(iso) });
  expect((await by(made.token, "operators", "list")).notes).toMatch(/refuses the operator token/);
  expect((await by(undefined, "operators", "revoke", "0190b4a0-0000-7000-8000-000000000000")).code).toBe(1);
});

test("a reader sees and changes nothing; billing moves money and keys, not prices, servers or operators", async () => {
  const token = async (role: string): Promise<string> =>
    (await json(undefined, "operators", "create", "--name", role, "--role", role)).token;
  const [reader, billing] = [await token("reader"), await token("billing")];
  const { id } = await json(billing, "accounts", "create");
  await json(billing, "accounts", "top-up", id, "--usd", "5", "--ref", "by-billing");
  await json(billing, "keys", "create", id);
  for (const shown of [["accounts", "show", id], ["prices", "list"], ["servers", "list"], ["reconcile"], ["usage"]]) {
    await json(reader, ...shown);
  }
  const refused = [
    ...[
      ["accounts", "create"],
      ["keys", "create", id],
    ].map((command) => [reader, "reader", command] as const),
    ...[
      ["prices", "pin", testModel],
      ["servers", "drain", "some"],
      ["operators", "create", "--name", "x", "--role", "owner"],
    ].flatMap((command) => [[reader, "reader", command] as const, [billing, "billing", command] as const]),
  ];
  for (const [credential, role, command] of refused) {
    const { code, notes } = await by(credential, ...command);
    expect({ command, code, notes }).toEqual({
      command,
      code: 1,
      notes: expect.stringMatching(new RegExp(`needs the role (owner|billing); the operator ${role} has ${role}`)),
    });
  }
});
