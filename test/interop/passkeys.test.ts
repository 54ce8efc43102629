import { randomBytes } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { databases, dialects } from "../money/databases.ts";
import { Authenticator, type Deviation } from "../support/authenticator.ts";
import { newAddress } from "../support/new-address.ts";
import { outcomeOf } from "../support/reason-of.ts";
import { type Service, serveModels } from "../support/service.ts";

// Sign-up and sign-in by passkeys over the real wire, and what attackers try with them.

const draw = () => randomBytes(32).toString("hex");
const secrets = { TOLLGATE_OPERATOR_TOKEN: draw(), TOLLGATE_KEY_PEPPER: draw() };
const newDatabase = databases();
const origin = "https://console.example.com";
const models = [{ id: "m", servers: [{ url: "http://127.0.0.1:9" }] }];

type Served = Omit<Service, "idle">;

function calls(service: Served, token?: string) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { headers: { ...authorization, "x-tollgate-client-address": newAddress() } };
  return {
    accounts: createClient(AccountsService, service.transport),
    audit: createClient(AuditService, service.transport),
    people: createClient(PeopleService, service.transport),
    sessions: createClient(SessionsService, service.transport),
    options,
  };
}

async function signUp(service: Served, authenticator: Authenticator, deviation?: Deviation) {
  const { sessions, options } = calls(service);
  const { optionsJson, pending } = await sessions.beginPasskeySignUp({ name: "Ada" }, options);
  return sessions.finishPasskeySignUp({ credentialJson: authenticator.make(optionsJson, deviation), pending }, options);
}

async function signIn(service: Served, authenticator: Authenticator, deviation?: Deviation) {
  const { sessions, options } = calls(service);
  const { optionsJson, pending } = await sessions.beginPasskeySignIn({}, options);
  return sessions.finishPasskeySignIn({ credentialJson: authenticator.use(optionsJson, deviation), pending }, options);
}

async function add(service: Served, token: string, authenticator: Authenticator, name = "phone") {
  const { people, options } = calls(service, token);
  const { optionsJson, pending } = await people.beginPasskey({ name }, options);
  return people.finishPasskey({ credentialJson: authenticator.make(optionsJson), pending }, options);
}

describe.each(dialects)("%s", (dialect) => {
  let services: Served[];
  beforeAll(async () => {
    const url = await newDatabase(dialect);
    services = [];
    for (let core = 0; core < (dialect === "sqlite" ? 1 : 2); core += 1) {
      const config = { storage: { url }, site: { address: origin }, sign_up: "open" as const };
      services.push(await serveModels(models, config, true, secrets));
    }
  }, 60_000);
  afterAll(async () => {
    for (const one of services) {
      await one[Symbol.asyncDispose]();
    }
  });
  const first = () => services[0] as Served;
  const last = () => services.at(-1) as Served;

  test("somebody new makes a passkey, owns an account without free money, and signs in with it anywhere", async () => {
    const { sessions, options } = calls(first());
    expect(await sessions.getSignInOptions({}, options)).toMatchObject({
      passkeyHost: "console.example.com",
      signUp: true,
    });
    const ada = new Authenticator(origin);
    const made = await signUp(first(), ada);
    expect(made.session).toMatchObject({ memberRole: MemberRole.OWNER, personName: "Ada", role: 0 });
    const { accounts, people, options: own } = calls(first(), made.token);
    expect((await accounts.getAccount({}, own)).account?.balancePicoUsd).toBe(0n);
    const again = await signIn(last(), ada);
    expect(again.session).toMatchObject({
      personId: made.session?.personId,
      accountId: made.session?.accountId,
      memberRole: MemberRole.OWNER,
    });
    const { passkeys } = await people.listPasskeys({}, own);
    expect(passkeys).toMatchObject([{ name: "Ada", usedAt: expect.anything() }]);
  });

  test("where nobody signs up, passkeys are offered as long as somebody has one", async () => {
    const closed = { storage: { url: await newDatabase(dialect) }, site: { address: origin } };
    const offered = async (sign_up: "closed" | "open", begin?: (service: Served) => Promise<unknown>) => {
      await using service = await serveModels(models, { ...closed, sign_up }, true, secrets);
      await begin?.(service);
      return (await calls(service).sessions.getSignInOptions({})).passkeyHost;
    };
    expect(await offered("closed")).toBe("");
    const ada = new Authenticator(origin);
    expect(await offered("open", (service) => signUp(service, ada))).toBe("console.example.com");
    expect(await offered("closed", (service) => signIn(service, ada))).toBe("console.example.com");
  });

  test("a page elsewhere, another host and a person who was not asked are refused", async () => {
    const ada = new Authenticator(origin);
    const deviations = [
      ...[{ origin: "https://console.example.com.evil.net" }, { origin: "http://console.example.com" }],
      ...[{ origin: `${origin}:8443` }, { host: "example.com" }, { isUnverified: true }],
    ];
    for (const deviation of deviations) {
      expect(await outcomeOf(signUp(first(), new Authenticator(origin), deviation))).toBe("UNAUTHENTICATED");
    }
    await signUp(first(), ada);
    for (const deviation of deviations) {
      expect(await outcomeOf(signIn(first(), ada, deviation))).toBe("UNAUTHENTICATED");
    }
    expect(await outcomeOf(signIn(first(), ada))).toBe("done");
    expect(await outcomeOf(signIn(first(), new Authenticator(origin)))).toBe("UNAUTHENTICATED");
    expect(await outcomeOf(signIn(first(), new Authenticator(origin, ada.id)))).toBe("UNAUTHENTICATED");
  });

  test("a counter that went back, as a copy's does, is refused", async () => {
    const ada = new Authenticator(origin);
    await signUp(first(), ada);
    expect(await outcomeOf(signIn(first(), ada, { counter: 7 }))).toBe("done");
    for (const counter of [7, 6, 0]) {
      expect(await outcomeOf(signIn(last(), ada, { counter }))).toBe("UNAUTHENTICATED");
    }
    expect(await outcomeOf(signIn(last(), ada, { counter: 8 }))).toBe("done");
  });

  test("what was begun is finished once, on whatever core, and for what it was begun", async () => {
    const { sessions, options } = calls(first());
    const ada = new Authenticator(origin);
    const offer = await sessions.beginPasskeySignUp({ name: "Ada" }, options);
    const credentialJson = ada.make(offer.optionsJson);
    const foreign = await sessions.beginPasskeySignIn({}, options);
    const { pending } = offer;
    for (const wrong of [foreign.pending, `${pending.slice(0, -2)}AA`, ""]) {
      expect(await outcomeOf(sessions.finishPasskeySignUp({ credentialJson, pending: wrong }, options))).toBe(
        "UNAUTHENTICATED",
      );
    }
    const { token } = await sessions.finishPasskeySignUp({ credentialJson, pending }, options);
    const elsewhere = calls(last());
    expect(
      await outcomeOf(elsewhere.sessions.finishPasskeySignUp({ credentialJson, pending }, elsewhere.options)),
    ).toBe("UNAUTHENTICATED");

    const asked = await sessions.beginPasskeySignIn({}, options);
    const use = { credentialJson: ada.use(asked.optionsJson, { counter: 0 }), pending: asked.pending };
    const outcomes = await Promise.all(
      [first(), last(), first()].map((service) => {
        const one = calls(service);
        return outcomeOf(one.sessions.finishPasskeySignIn(use, one.options));
      }),
    );
    expect(outcomes.toSorted()).toEqual(["UNAUTHENTICATED", "UNAUTHENTICATED", "done"]);

    const other = await signUp(first(), new Authenticator(origin));
    const [mine, theirs] = [calls(first(), token), calls(first(), other.token)];
    const begun = await theirs.people.beginPasskey({ name: "phone" }, theirs.options);
    const made = { credentialJson: new Authenticator(origin).make(begun.optionsJson), pending: begun.pending };
    expect(await outcomeOf(mine.people.finishPasskey(made, mine.options))).toBe("UNAUTHENTICATED");
  });

  test("nobody takes a person over by a new passkey with the id of theirs", async () => {
    const ada = new Authenticator(origin);
    const { token } = await signUp(first(), ada);
    const thief = new Authenticator(origin, ada.id);
    expect(await outcomeOf(signUp(first(), thief))).toBe("UNAUTHENTICATED");
    const eve = await signUp(first(), new Authenticator(origin));
    expect(await outcomeOf(add(first(), eve.token, thief))).toBe("UNAUTHENTICATED");
    expect(await outcomeOf(signIn(first(), thief))).toBe("UNAUTHENTICATED");
    const one = new Authenticator(origin);
    const both = [signUp(first(), one), signUp(last(), new Authenticator(origin, one.id))];
    expect((await Promise.all(both.map(outcomeOf))).toSorted()).toEqual(["UNAUTHENTICATED", "done"]);
    expect(await outcomeOf(calls(first(), token).people.getPerson({}, calls(first(), token).options))).toBe("done");
  });

  test("a person adds passkeys by name and removes them, never the last way in, and the log has both", async () => {
    const [ada, phone] = [new Authenticator(origin), new Authenticator(origin)];
    const { token, session } = await signUp(first(), ada);
    const { people, audit, options } = calls(first(), token);
    expect(await outcomeOf(add(first(), token, phone, " "))).toBe("INVALID_ARGUMENT");
    const { passkey } = await add(first(), token, phone);
    expect(passkey).toMatchObject({ name: "phone" });
    expect((await signIn(last(), phone)).session?.personId).toBe(session?.personId);
    const passkeyId = passkey?.id ?? "";
    const eve = await signUp(first(), new Authenticator(origin));
    for (const id of [passkeyId, "none"]) {
      const theft = calls(first(), eve.token);
      expect(await outcomeOf(theft.people.removePasskey({ passkeyId: id }, theft.options))).toBe("PASSKEY_NOT_FOUND");
    }
    await people.removePasskey({ passkeyId }, options);
    expect(await outcomeOf(signIn(last(), phone))).toBe("UNAUTHENTICATED");
    const [left] = (await people.listPasskeys({}, options)).passkeys;
    expect(await outcomeOf(people.removePasskey({ passkeyId: left?.id ?? "" }, options))).toBe("LAST_IDENTITY");
    const { auditEvents } = await audit.listAuditEvents({}, options);
    expect(auditEvents.map(({ method }) => method.split("/")[1])).toEqual([
      ...["RemovePasskey", "FinishPasskey", "FinishPasskeySignUp"],
    ]);
    expect(auditEvents[0]).toMatchObject({ target: passkeyId, personId: session?.personId });

    await add(first(), token, phone);
    const ids = (await people.listPasskeys({}, options)).passkeys.map(({ id }) => id);
    const both = await Promise.all(ids.map((id) => outcomeOf(people.removePasskey({ passkeyId: id }, options))));
    expect(both.toSorted()).toEqual(["LAST_IDENTITY", "done"]);
  });
});

test("where nobody signs up, no passkey is made; who is invited waits for it; without them none is offered", async () => {
  const site = { address: origin };
  await using closed = await serveModels(models, { site });
  expect(await outcomeOf(signUp(closed, new Authenticator(origin)))).toBe("PERMISSION_DENIED");
  await using invited = await serveModels(models, { site, sign_up: "invited" });
  const made = await signUp(invited, new Authenticator(origin));
  expect(made.session).toMatchObject({ accountId: "", memberRole: 0 });
  const { people, options } = calls(invited, made.token);
  expect(await outcomeOf(people.getPerson({}, options))).toBe("done");
  const waiting = [
    people.updatePerson({}, options),
    people.listAccounts({}, options),
    people.listPasskeys({}, options),
  ];
  expect(await Promise.all(waiting.map(outcomeOf))).toEqual(waiting.map(() => "PERMISSION_DENIED"));
  await using without = await serveModels(models, { site, sign_in: { passkeys: false } });
  const { sessions } = calls(without);
  expect((await sessions.getSignInOptions({})).passkeyHost).toBe("");
  expect(await outcomeOf(signIn(without, new Authenticator(origin)))).toBe("UNSUPPORTED");
  const refused = serveModels(models, { site: { address: "https://10.0.0.1" }, sign_in: { passkeys: true } });
  await expect(refused).rejects.toThrow("sign_in.passkeys");
}, 60_000);
