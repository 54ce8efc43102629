import { randomBytes } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { type MailedEvent, mailedEvents } from "#src/storage/outbox/types.ts";
import { MailServer } from "../delivery/mail/mail-server.ts";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { type Identities, startIdentities } from "../support/identities.ts";
import { newAddress } from "../support/new-address.ts";
import { outcomeOf } from "../support/reason-of.ts";
import { type Service, serveModels } from "../support/service.ts";

// Sign-in by a link that comes by mail: over the real wire, with a real mail server. Most of the time is waiting for mails, which
// go once a second: tests wait beside each other, each as somebody else.

const draw = () => randomBytes(32).toString("hex");
const secrets = { TOLLGATE_OPERATOR_TOKEN: draw(), TOLLGATE_KEY_PEPPER: draw() };
const newDatabase = databases();
const models = [{ id: "m", servers: [{ url: "http://127.0.0.1:9" }] }];
const most = 10;

describe.each(dialects)("%s", (dialect) => {
  let services: Omit<Service, "idle">[];
  let server: MailServer;
  let identities: Identities;
  beforeAll(async () => {
    const url = await newDatabase(dialect);
    server = await MailServer.start();
    identities = await startIdentities("tollgate");
    services = [];
    const config = {
      storage: { url },
      site: { address: "https://console.example.com", name: "Example" },
      mail: { from: "no-reply@example.com", smtp: { url: `smtp://127.0.0.1:${server.port}` } },
      sign_in: { oidc: { issuer: identities.issuer, client_id: "tollgate" } },
      sign_up: "open" as const,
      free_tier: { grant_usd: "1" },
    };
    for (let core = 0; core < (dialect === "sqlite" ? 1 : 2); core += 1) {
      services.push(await serveModels(models, config, true, secrets));
    }
  }, 60_000);
  afterAll(async () => {
    for (const one of services) {
      await one[Symbol.asyncDispose]();
    }
    await server[Symbol.asyncDispose]();
    await identities[Symbol.asyncDispose]();
  });

  const sessions = (service = services[0]) => createClient(SessionsService, service?.transport as never);
  const from = () => ({ headers: { "x-tollgate-client-address": newAddress() } });

  /** The tokens of the links that came to an address. */
  const tokensOf = (email: string) =>
    server.mails
      .filter(({ to }) => to.includes(email.toLowerCase()))
      .map(({ source }) => {
        const text = source.replaceAll("=\r\n", "").replaceAll("=3D", "=");
        return /https:\/\/console\.example\.com\/sign-in\/mail\/(tgml_[0-9A-Za-z]+)/.exec(text)?.[1] ?? "";
      });

  /** Asks for a link, and reads it. */
  async function ask(email: string) {
    const before = tokensOf(email).length;
    const { pending } = await sessions().beginMailSignIn({ email }, from());
    await eventually("the link comes", () => tokensOf(email).length > before);
    return { pending, token: tokensOf(email).at(-1) ?? "" };
  }

  test.concurrent("a link signs somebody new up with the free money, and the same person in from then on", async () => {
    expect((await sessions().getSignInOptions({})).mail).toBe(true);
    const { session, token } = await sessions().finishMailSignIn(await ask("Ada@Example.com"), from());
    expect(session).toMatchObject({ memberRole: MemberRole.OWNER, personName: "ada", role: 0 });
    const accounts = createClient(AccountsService, services[0]?.transport as never);
    const own = { headers: { authorization: `Bearer ${token}` } };
    expect((await accounts.getAccount({}, own)).account?.balancePicoUsd).toBe(10n ** 12n);
    const again = await sessions(services.at(-1)).finishMailSignIn(await ask("ada@example.com"), from());
    expect(again.session?.personId).toBe(session?.personId);
  });

  test.concurrent("a link works once, on whatever core, and in the browser that asked for it alone", async () => {
    const [one, other] = [await ask("bob@example.com"), await ask("eve@example.com")];
    const latest = await ask("bob@example.com");
    for (const wrong of [
      { ...one, pending: other.pending },
      { ...one, pending: latest.pending },
      { ...one, pending: "" },
      { ...one, token: "" },
      { ...one, token: `${one.token.slice(0, -1)}${one.token.endsWith("0") ? "1" : "0"}` },
    ]) {
      expect(await outcomeOf(sessions().finishMailSignIn(wrong, from()))).toBe("UNAUTHENTICATED");
    }
    const uses = [0, 1, 2].map((use) =>
      outcomeOf(sessions(services[use % services.length]).finishMailSignIn(one, from())),
    );
    expect((await Promise.all(uses)).toSorted()).toEqual(["UNAUTHENTICATED", "UNAUTHENTICATED", "done"]);
  });

  test.concurrent("the person of an address is not whoever signs in elsewhere with that address, and gets no second grant", async () => {
    const claims = { sub: "carol", name: "Carol", email: "carol@example.com", email_verified: true };
    const elsewhere = await identities.signIn(sessions(), claims, from());
    const { session, token } = await sessions().finishMailSignIn(await ask("carol@example.com"), from());
    expect(session?.personId).not.toBe(elsewhere.session?.personId);
    expect(session?.accountId).not.toBe(elsewhere.session?.accountId);
    const accounts = createClient(AccountsService, services[0]?.transport as never);
    const own = { headers: { authorization: `Bearer ${token}` } };
    expect((await accounts.getAccount({}, own)).account?.balancePicoUsd).toBe(0n);
  });

  test.concurrent("an address gets ten mails an hour, whoever asks, and nobody is told", async () => {
    const email = "mallory@example.com";
    for (let asked = 0; asked < most + 5; asked += 1) {
      const answer = await sessions().beginMailSignIn({ email }, from());
      expect(Object.keys(answer).toSorted()).toEqual(["$typeName", "pending"]);
    }
    const sent = () => server.offered.filter((to) => to === email).length;
    await eventually("ten are sent", () => sent() === most);
    await ask("trent@example.com"); // others are not kept waiting
    expect(sent()).toBe(most);
    for (const wrong of ["nobody", "a@b, c@d", "two words@example.com"]) {
      expect(await outcomeOf(sessions().beginMailSignIn({ email: wrong }, from()))).toBe("INVALID_ARGUMENT");
    }
  });

  test.concurrent("people choose what they are told of, links come whatever they chose", async () => {
    const email = "peggy@example.com";
    const { session, token } = await sessions().finishMailSignIn(await ask(email), from());
    const people = createClient(PeopleService, services[0]?.transport as never);
    const operator = createClient(AccountsService, services[0]?.operator as never);
    const own = { headers: { authorization: `Bearer ${token}` } };
    const accountId = session?.accountId ?? "";
    await operator.updateAccount({ accountId, email: `office.${email}` });
    const reasonsTold = (to: string) =>
      server.mails
        .filter((mail) => mail.to.includes(to))
        .flatMap(({ source }) => /No new request runs for \S+: (\w+)/.exec(source)?.[1] ?? []);
    const freeze = async (reason: string) => {
      await operator.freezeAccount({ accountId, reason });
      await eventually("the account's address is told", () => reasonsTold(`office.${email}`).includes(reason));
      await operator.unfreezeAccount({ accountId });
    };
    const { person, mailedEvents: offered } = await people.getPerson({}, own);
    expect(person?.mails).toBeUndefined();
    expect(offered).toEqual(mailedEvents);
    await freeze("unasked");
    const name = person?.name ?? "";
    const choices: Record<string, MailedEvent[]> = { nothing: [], other: ["balance.low"], wanted: ["account.frozen"] };
    for (const [reason, events] of Object.entries(choices)) {
      const changed = await people.updatePerson({ mails: { events: [...events, ...events] } }, own);
      expect(changed.person).toMatchObject({ name, mails: { events } });
      await freeze(reason);
    }
    for (const wrong of ["key.created", "sign-in-link", ""]) {
      expect(await outcomeOf(people.updatePerson({ mails: { events: [wrong] } }, own))).toBe("INVALID_ARGUMENT");
    }
    await people.updatePerson({ mails: { events: [] } }, own);
    await ask(email);
    expect(reasonsTold(email)).toEqual(["unasked", "wanted"]);
    const renamed = await people.updatePerson({ name: "Peggy" }, own);
    expect(renamed.person).toMatchObject({ name: "Peggy", mails: { events: [] } });
    const anew = await people.updatePerson({ updateMask: { paths: ["mails"] } }, own);
    expect(anew.person).toMatchObject({ name: "Peggy" });
    expect(anew.person?.mails).toBeUndefined();
  });
});

test("where nobody signs up, only who is known gets a mail; without mail or an address there is none", async () => {
  await using server = await MailServer.start();
  const mail = { from: "no-reply@example.com", smtp: { url: `smtp://127.0.0.1:${server.port}` } };
  const site = { address: "https://console.example.com" };
  const asked = { email: "ada@example.com" };
  await using closed = await serveModels(models, { site, mail });
  const client = createClient(SessionsService, closed.transport);
  expect((await client.beginMailSignIn(asked)).pending).not.toBe("");
  await using without = await serveModels(models, { mail });
  expect(await outcomeOf(createClient(SessionsService, without.transport).beginMailSignIn(asked))).toBe("UNSUPPORTED");
  await using unconfigured = await serveModels(models, { site });
  const { mail: isOffered } = await createClient(SessionsService, unconfigured.transport).getSignInOptions({});
  expect(isOffered).toBe(false);
  expect(server.offered).toEqual([]);
}, 60_000);
