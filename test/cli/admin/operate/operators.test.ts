import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Receiver, signatureOf } from "../../../delivery/webhooks/receiver.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Outcome, runHere } from "../../../support/run-here.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../../support/tollgate.ts";

const uuid = /^[0-9a-f-]{36}$/;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const testModel = "tollgate-sim/plain";

let site: Site;
let service: Tollgate;
beforeAll(async () => {
  site = await createSite();
  service = await startTollgate(
    site,
    "serve",
    "--config",
    await site.configure({ ...freePorts, webhooks: { allow: ["127.0.0.0/8"] } }),
  );
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
  for (const wrong of ["Root", "root ", " Ada", "Ada\nroot", "\u001b[2JAda", "\u202etoor"]) {
    const refused = await by(undefined, "operators", "create", "--name", wrong, "--role", "reader");
    expect([refused.code, refused.notes]).toEqual([
      1,
      expect.stringMatching(/take another name|no control characters|no spaces at its ends/),
    ]);
  }
  expect((await by(undefined, "operators", "create", "--name", "Bo", "--role", "king")).code).toBe(1);
  const revoked = await json(made.token, "operators", "revoke", made.id);
  expect(revoked).toEqual({ ...row, revoked_at: expect.stringMatching(iso) });
  expect((await by(made.token, "operators", "list")).notes).toMatch(/refuses the operator token/);
  expect((await by(undefined, "operators", "revoke", "0190b4a0-0000-7000-8000-000000000000")).code).toBe(1);
});

test("an operator is revoked by name, of several of that name the one who is left", async () => {
  for (const _ of [1, 2]) {
    const { id } = await json(undefined, "operators", "create", "--name", "Cy", "--role", "reader");
    expect(await json(undefined, "operators", "revoke", "Cy")).toMatchObject({
      id,
      revoked_at: expect.stringMatching(iso),
    });
  }
  for (const gone of ["Cy", "nobody"]) {
    const { code, notes } = await by(undefined, "operators", "revoke", gone);
    expect([code, notes]).toEqual([1, `tollgate: there is no operator ${gone} with a token`]);
  }
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

test("what operators change is listed, newest first, with before and after and without a secret", async () => {
  const { token } = await json(undefined, "operators", "create", "--name", "Cy", "--role", "billing");
  const { id } = await json(undefined, "accounts", "create", "--name", "first");
  await json(token, "accounts", "update", id, "--name", "second");
  const paid = await json(token, "accounts", "top-up", id, "--usd", "5", "--ref", "audited");
  await json(token, "accounts", "top-up", id, "--usd", "5", "--ref", "audited"); // changes nothing
  const { id: key, key: secret } = await json(token, "keys", "create", id);
  await json(token, "keys", "revoke", key);
  await json(undefined, "prices", "pin", testModel);
  const rows = await json(undefined, "audit", "list", "--limit", "6");
  const row = (operator: string, method: string, target: string, before: unknown, after: unknown) => ({
    ...{ at: expect.stringMatching(iso), operator, method: `tollgate.${method}`, target, before, after },
    account_id: null,
    person_id: null,
    key_id: null,
    address: "127.0.0.1",
  });
  const some = expect.objectContaining;
  const accounts = "accounts.v1.AccountsService";
  expect(rows).toEqual([
    row(
      "root",
      "metering.v1.PricesService/PinPrice",
      testModel,
      some({ model: testModel }),
      some({ model: testModel }),
    ),
    row("Cy", `${accounts}/RevokeKey`, key, some({ id: key }), some({ key_id: key })),
    row("Cy", `${accounts}/CreateKey`, key, null, some({ account_id: id })),
    row(
      "Cy",
      `${accounts}/TopUp`,
      id,
      { paid_total_pico_usd: "0" },
      {
        ...{ account_id: id, amount_pico_usd: "5000000000000", reference: "audited" },
        ...{ lot_id: paid.lot_id, paid_total_pico_usd: "5000000000000" },
      },
    ),
    row("Cy", `${accounts}/UpdateAccount`, id, some({ name: "first" }), some({ name: "second" })),
    row("root", `${accounts}/CreateAccount`, id, null, some({ id, name: "first" })),
  ]);
  const all = JSON.stringify(await json(token, "audit", "list", "--from", rows[5].at));
  expect(all).toContain(key);
  expect([all.includes(secret), all.includes(token)]).toEqual([false, false]);
  expect(await json(undefined, "audit", "list", "--from", "2099-01-01")).toEqual([]);
});

test("an endpoint is told of a top-up, signed, and its deliveries are listed", async () => {
  await using receiver = await Receiver.start();
  const events = "account.topped_up,key.created";
  const made = await json(undefined, "webhooks", "create", "--url", receiver.url, "--events", events);
  expect(made).toEqual({ id: expect.stringMatching(uuid), secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) });
  const { id } = await json(undefined, "accounts", "create");
  const paid = await json(undefined, "accounts", "top-up", id, "--usd", "7.5", "--ref", "told");
  await eventually("the event is received", () => receiver.received.length === 1);
  const [got] = receiver.received;
  const data = { account_id: id, amount_usd: "7.50", reference: "told", lot_id: paid.lot_id };
  expect(got?.event).toEqual({ type: "account.topped_up", timestamp: expect.stringMatching(iso), data });
  expect(got?.signature).toBe(got && signatureOf(got, made.secret));
  const deliveries = () => json(undefined, "webhooks", "deliveries", made.id);
  await eventually("the delivery is noted", async () => (await deliveries())[0]?.status === "delivered");
  expect(await deliveries()).toEqual([
    {
      ...{ id: expect.stringMatching(uuid), event_id: got?.id, type: "account.topped_up", status: "delivered" },
      ...{ attempts: 1, response_status: 204, error: null, created_at: got?.event.timestamp },
      ...{ next_attempt_at: null, delivered_at: expect.stringMatching(iso) },
    },
  ]);
  expect(await json(undefined, "events", "list")).toContainEqual({
    ...{ id: got?.id, type: "account.topped_up", timestamp: got?.event.timestamp, account_id: id, data },
  });
  const ofOthers = await json(undefined, "events", "list", "--type", "account.frozen,key.revoked");
  expect(ofOthers.filter((event: { type: string }) => event.type === "account.topped_up")).toEqual([]);
  const ofType = await json(undefined, "events", "list", "--type", "account.topped_up");
  expect(ofType.map((event: { id: string }) => event.id)).toContain(got?.id);
  expect((await json(undefined, "events", "types")).length).toBe(21);
  const renewed = await json(undefined, "webhooks", "rotate-secret", made.id);
  expect(renewed).toEqual({ id: made.id, secret: expect.not.stringMatching(made.secret) });
  expect(await json(undefined, "webhooks", "delete", made.id)).toMatchObject({ id: made.id });
  expect(await json(undefined, "webhooks", "list")).toEqual([]);
  const refused = await by(undefined, "webhooks", "create", "--url", "https://10.0.0.1", "--events", "no.such");
  expect(refused.notes).toMatch(/webhooks\.allow/);
  expect(JSON.stringify(await json(undefined, "audit", "list"))).not.toContain("whsec_");
});

test("an endpoint is told of a balance that is low and of a key whose budget is spent, by requests over HTTP", async () => {
  await using receiver = await Receiver.start();
  const events = "balance.low,key.limit";
  const { secret } = await json(undefined, "webhooks", "create", "--url", receiver.url, "--events", events);
  const { id } = await json(undefined, "accounts", "create");
  await json(undefined, "accounts", "top-up", id, "--usd", "5", "--ref", "to-be-spent");
  const { id: keyId, key } = await json(undefined, "keys", "create", id, "--name", "batch");
  const ask = async (): Promise<number> => {
    const answer = await fetch(`${service.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: testModel,
        messages: [{ role: "user", content: "Hello ".repeat(500) }],
        max_tokens: 100,
      }),
    });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { usage: { cost: number } }).usage.cost;
  };
  const limit = (2.2 * (await ask())).toFixed(12);
  const { balance_usd: balance } = await json(undefined, "accounts", "show", id);
  await json(undefined, "accounts", "set-limits", id, "--low-balance-usd", balance);
  await json(undefined, "keys", "set-limits", keyId, "--usd", limit);
  await ask();
  const told = (type: string) => receiver.received.filter(({ event }) => event.type === type);
  await eventually("both are told", () => told("balance.low").length > 0 && told("key.limit").length > 0);
  const [low, most] = [told("balance.low")[0], told("key.limit")[0]];
  expect(low?.event.data).toMatchObject({ account_id: id, threshold_usd: balance });
  expect(most?.event.data).toMatchObject({ account_id: id, key_id: keyId, name: "batch", percent: 80, per: "total" });
  expect([low, most].map((got) => got?.signature)).toEqual([low, most].map((got) => got && signatureOf(got, secret)));
});
