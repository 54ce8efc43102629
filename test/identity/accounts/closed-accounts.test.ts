import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { Accounts } from "#src/identity/accounts/accounts.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { makePoorAccount } from "../../checkout/poor-account.ts";
import { reasonOf } from "../../support/reason-of.ts";

const now = new Date("2026-11-30");
let storage: Storage;
let accounts: Accounts;
let accountId: string;
const em = () => storage.orm.em.fork();
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  accounts = new Accounts(storage);
  accountId = await makePoorAccount(storage);
});
afterEach(() => storage.close());

test("an account that nobody has any more stays frozen, whatever it is frozen for since", async () => {
  await accounts.close(accountId, now);
  expect(await reasonOf(accounts.unfreeze(accountId))).toBe(Reason.INVALID_ARGUMENT);
  await accounts.freeze(accountId, "disputed", now);
  expect(await reasonOf(accounts.unfreeze(accountId))).toBe(Reason.INVALID_ARGUMENT);
  expect(await accounts.get(accountId)).toMatchObject({ frozenAt: now });
});

test("an account whose closing broke off can be unfrozen while it has its people", async () => {
  const person = {
    id: systemRandom.uuid(),
    name: "Ada",
    email: null,
    emailVerified: false,
    createdAt: now,
    mails: null,
  };
  await em().insert(Person, person);
  const place = { accountId, personId: person.id, role: "owner" as const, createdAt: now };
  await em().insert(Member, { id: systemRandom.uuid(), ...place });
  await accounts.close(accountId, now);
  expect(await accounts.unfreeze(accountId)).toMatchObject({ frozenAt: null, frozenReason: null });
});

test("closing turns auto top-up off, so that unfreezing charges no card", async () => {
  await em().insert(AutoTopUp, {
    ...{ accountId, below: 5, amount: 20, monthly: 100n, state: "on" },
    ...{ crossing: 0, charging: null, declines: 0, notBefore: null },
  });
  await accounts.close(accountId, now);
  expect(await em().findOne(AutoTopUp, { accountId })).toMatchObject({ state: "off" });
});
