import { expect, test } from "@jest/globals";
import { MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { noLimits } from "#lib/limits/key-limits.ts";
import { createAuthenticator } from "#src/identity/accounts/authenticator.ts";
import { newApiKey, toDigest } from "#src/identity/accounts/keys/api-key.ts";
import { LastUsed } from "#src/identity/accounts/keys/last-used.ts";
import type { Account } from "#src/storage/entities/account.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";
import type { LiveSession, Operator, SessionFinder } from "#src/wire/principal.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../support/reason-of.ts";
import { noSessions } from "./no-sessions.ts";

const testAccount = "0199a000-0000-7000-8000-000000000001";
const otherAccount = "0199a000-0000-7000-8000-000000000002";
const peppers = [
  { version: 2, secret: "new pepper" },
  { version: 1, secret: "old pepper" },
] as const;

const ada: Operator = { kind: "operator", id: "o1", name: "Ada", role: Role.READER };

function setUp(sessions: SessionFinder = noSessions) {
  const clock = new ManualClock();
  const stored = new Map<string, Partial<ApiKey>>();
  const accounts = new Map<string, Partial<Account>>();
  let reads = 0;
  const used = new Set<string>();
  const quiet = () => {};
  const lastUsed = new LastUsed(async () => {}, clock, { debug: quiet, info: quiet, warn: quiet, error: quiet });
  lastUsed.note = (keyId) => void used.add(keyId);
  const authenticator = createAuthenticator({
    sessions,
    operatorToken: "the operator's token",
    services: [
      { name: "billing", token: "billing token" },
      { name: "batch", token: "batch token", accounts: [testAccount] },
    ],
    peppers,
    mayExist: () => true,
    findKey: async (digests) => {
      reads++;
      for (const digest of digests) {
        const key = stored.get(digest.toString("hex"));
        if (key) {
          return key as ApiKey;
        }
      }
      return undefined;
    },
    findOperator: async (token) => (token === "ada's token" ? ada : undefined),
    findAccount: async (id) => accounts.get(id) as Account | undefined,
    lastUsed,
    clock,
  });
  const add = (facts: Partial<ApiKey> = {}, pepper: (typeof peppers)[number] = peppers[0]) => {
    const secret = newApiKey("tg-", systemRandom);
    const key: Partial<ApiKey> = { id: "k1", accountId: "a1", limits: noLimits, revokedAt: null, ...facts };
    stored.set(toDigest(secret, pepper).toString("hex"), key);
    return { secret, key };
  };
  return { authenticator, accounts, add, clock, used, reads: () => reads };
}

test("an API key is its account's caller, read once", async () => {
  const { authenticator, add, used, reads } = setUp();
  const { secret } = add();
  for (let i = 0; i < 5; i++) {
    expect(await authenticator.authenticate(secret, undefined)).toEqual({
      kind: "caller",
      accountId: "a1",
      keyId: "k1",
    });
  }
  expect(reads()).toBe(1);
  expect(used).toEqual(new Set(["k1"]));
});

test("a key's own limit comes with it", async () => {
  const { authenticator, add } = setUp();
  expect(await authenticator.authenticate(add({ limits: { ...noLimits, rpm: 7 } }).secret, undefined)).toMatchObject({
    rpm: 7,
  });
});

test("a key cannot name another payer", async () => {
  const { authenticator, add } = setUp();
  expect(await authenticator.authenticate(add().secret, "a2")).toMatchObject({ accountId: "a1" });
});

test("a key made with the pepper before is still known", async () => {
  const { authenticator, add } = setUp();
  expect(await authenticator.authenticate(add({}, peppers[1]).secret, undefined)).toMatchObject({ keyId: "k1" });
});

test("a mistyped key is refused without asking the store", async () => {
  const { authenticator, add, reads } = setUp();
  const { secret } = add();
  const typo = secret.slice(0, 10) + (secret[10] === "a" ? "b" : "a") + secret.slice(11);
  for (const wrong of [typo, "", "tg-", "sk-something", secret.slice(0, -1)]) {
    expect(await reasonOf(authenticator.authenticate(wrong, undefined))).toBe(Reason.UNAUTHENTICATED);
  }
  expect(reads()).toBe(0);
});

test("unknown, revoked and expired keys are refused, each with its own words", async () => {
  const { authenticator, add, clock } = setUp();
  await expect(authenticator.authenticate(newApiKey("tg-", systemRandom), undefined)).rejects.toThrow("unknown");
  await expect(authenticator.authenticate(add({ revokedAt: new Date() }).secret, undefined)).rejects.toThrow("revoked");
  const expiring = add({ limits: { ...noLimits, expiresAt: new Date(clock.now() + 1000) } }).secret;
  await authenticator.authenticate(expiring, undefined);
  clock.advance(1000); // the answer remembered is fresh, but the key has run out
  await expect(authenticator.authenticate(expiring, undefined)).rejects.toThrow("expired");
});

test("a refused key that was right once is known by its cause, so that its account sees the refusal", async () => {
  const { add, authenticator } = setUp();
  const kinds = [{ revokedAt: new Date() }, { disabled: true }, { limits: { ...noLimits, expiresAt: new Date(0) } }];
  for (const facts of kinds) {
    const refused = authenticator.authenticate(add(facts).secret, undefined);
    await expect(refused).rejects.toMatchObject({ cause: { accountId: "a1", keyId: "k1" } });
  }
});

test("a revoked key stops at once on this core and within ten seconds on others", async () => {
  const { authenticator, add, clock } = setUp();
  const { secret, key } = add();
  await authenticator.authenticate(secret, undefined);
  key.revokedAt = new Date();
  expect(await reasonOf(authenticator.authenticate(secret, undefined))).toBeUndefined(); // this core was not told
  clock.advance(9_000);
  expect(await reasonOf(authenticator.authenticate(secret, undefined))).toBe(Reason.UNAUTHENTICATED);

  const other = add({ id: "k2", accountId: "a2" });
  await authenticator.authenticate(other.secret, undefined);
  other.key.revokedAt = new Date();
  authenticator.forget("a2");
  expect(await reasonOf(authenticator.authenticate(other.secret, undefined))).toBe(Reason.UNAUTHENTICATED);

  const missed = add({ id: "k3", accountId: "a3" });
  await authenticator.authenticate(missed.secret, undefined);
  missed.key.revokedAt = new Date();
  authenticator.forget(undefined);
  expect(await reasonOf(authenticator.authenticate(missed.secret, undefined))).toBe(Reason.UNAUTHENTICATED);
});

test("the session of a removed member stops at once on this core and within ten seconds on others", async () => {
  const owner = { kind: "person", personId: "p", personName: "Eve", memberRole: MemberRole.OWNER } as const;
  let removed = false;
  const finder: SessionFinder = {
    isToken: (text) => text.startsWith("session"),
    async find(token): Promise<LiveSession | undefined> {
      const accountId = token === "session 1" ? "a1" : "a2";
      return removed ? undefined : { id: token, expiresAt: new Date(2 ** 50), owner: { ...owner, accountId } };
    },
  };
  const { authenticator, clock } = setUp(finder);
  const outcomes = async () => {
    const answers = ["session 1", "session 2"].map((token) => reasonOf(authenticator.authenticate(token, undefined)));
    return Promise.all(answers);
  };
  expect(await outcomes()).toEqual([undefined, undefined]);
  removed = true;
  authenticator.forget("a1");
  expect(await outcomes()).toEqual([Reason.UNAUTHENTICATED, undefined]); // of the other account this core was not told
  clock.advance(9_000);
  expect(await outcomes()).toEqual([Reason.UNAUTHENTICATED, Reason.UNAUTHENTICATED]);
});

test("the operator's token is the operator", async () => {
  const { authenticator } = setUp();
  expect(await authenticator.authenticate("the operator's token", undefined)).toEqual({
    kind: "operator",
    id: "",
    name: "root",
    role: Role.OWNER,
  });
  expect(await reasonOf(authenticator.authenticate("the operator's token ", undefined))).toBe(Reason.UNAUTHENTICATED);
});

test("an operator's own token is that operator", async () => {
  const { authenticator } = setUp();
  expect(await authenticator.authenticate("ada's token", undefined)).toEqual(ada);
});

test("a service token calls for the account that it names, if it may", async () => {
  const { authenticator } = setUp();
  expect(await authenticator.authenticate("billing token", otherAccount)).toEqual({
    kind: "caller",
    accountId: otherAccount,
    keyId: "",
  });
  expect(await reasonOf(authenticator.authenticate("batch token", testAccount))).toBeUndefined();
  expect(await reasonOf(authenticator.authenticate("batch token", otherAccount))).toBe(Reason.PERMISSION_DENIED);
  expect(await reasonOf(authenticator.authenticate("billing token", "nobody"))).toBe(Reason.ACCOUNT_NOT_FOUND);
  expect(await reasonOf(authenticator.authenticate("billing token", undefined))).toBe(Reason.PERMISSION_DENIED);
});

test("a frozen account and its places are known of keys and service tokens, and forgotten when told", async () => {
  const { authenticator, accounts, add, clock } = setUp();
  const { secret } = add({ accountId: testAccount });
  const callers = () =>
    Promise.all([
      authenticator.authenticate(secret, undefined),
      authenticator.authenticate("batch token", testAccount),
    ]);
  accounts.set(testAccount, {
    id: testAccount,
    frozenAt: new Date(0),
    frozenReason: "unpaid",
    maxInFlight: 3,
    serviceClass: "priority",
  });
  const frozen = {
    ...{ accountId: testAccount, frozenReason: "unpaid" },
    ...{ accountMaxInFlight: 3, accountServiceClass: "priority" },
  };
  expect(await callers()).toMatchObject([frozen, frozen]);
  accounts.set(testAccount, { id: testAccount, frozenAt: null, frozenReason: null, maxInFlight: null });
  expect(await callers()).toMatchObject([frozen, frozen]);
  authenticator.forget(testAccount);
  for (const caller of await callers()) {
    expect(caller).not.toHaveProperty("frozenReason");
    expect(caller).not.toHaveProperty("accountMaxInFlight");
  }
  accounts.set(testAccount, { id: testAccount, frozenAt: new Date(0), frozenReason: "again", maxInFlight: null });
  clock.advance(9_000); // nobody told: the bound of a revocation holds
  expect(await callers()).toMatchObject([{ frozenReason: "again" }, { frozenReason: "again" }]);
});

test.each([
  ["away", () => Promise.reject(new Error("connection refused"))],
  ["stalled", () => new Promise<never>(() => {})],
])("a store that is %s is not the key's fault", async (_, findKey) => {
  const clock = new ManualClock();
  const quiet = () => {};
  const authenticator = createAuthenticator({
    sessions: noSessions,
    operatorToken: "t",
    services: [],
    peppers,
    mayExist: () => true,
    findKey,
    findOperator: async () => undefined,
    findAccount: async () => undefined,
    lastUsed: new LastUsed(async () => {}, clock, { debug: quiet, info: quiet, warn: quiet, error: quiet }),
    clock,
  });
  const answer = reasonOf(authenticator.authenticate(newApiKey("tg-", systemRandom), undefined));
  clock.advance(5000);
  expect(await answer).toBe(Reason.LEDGER_UNAVAILABLE);
});
