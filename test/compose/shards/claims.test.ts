import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../../lib/errors/detail.ts";
import { createAccountMethods } from "../../../src/accounts/account-methods.ts";
import { Accounts } from "../../../src/accounts/accounts.ts";
import { claimFirst } from "../../../src/storage/shard-mark.ts";
import { usd } from "../../metering/fixture.ts";
import { type Core, newAccount, newUrls, openCore, pauseMs } from "./two-databases.ts";

// Names that stand for one account in two databases.

/** Two accounts, of which the second one, in the second database, has paid under the reference. */
async function paidElsewhere(): Promise<{ core: Core; here: string; there: string; reference: string }> {
  const core = await openCore(await newUrls(), false);
  await claimFirst(core.parts[0].storage, 2, () => "the service");
  const [here, there] = [await newAccount(core), await newAccount(core)];
  await core.moves.move(there, 1, pauseMs);
  const reference = `new ${there}`;
  await core.funds.credit({ accountId: there, kind: "paid", amount: usd, reference });
  return { core, here, there, reference };
}

const reasonOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => readDetail(error)?.reason,
  );

test("a core that knows of the first database alone is refused a reference of another one", async () => {
  const { core, here, reference } = await paidElsewhere();
  const [{ funds }] = core.parts;
  const paid = funds.credit({ accountId: here, kind: "paid", amount: usd, reference });
  expect(await reasonOf(paid)).toBe(Reason.PAYMENT_REFERENCE_CONFLICT);
  const refunded = funds.refund({ accountId: here, amount: usd, reference });
  expect(await reasonOf(refunded)).toBe(Reason.PAYMENT_REFERENCE_CONFLICT);
}, 60_000);

test("a core that knows of the first database alone refuses for now to make an account that another one has", async () => {
  const { core, there } = await paidElsewhere();
  const [{ storage, funds }] = core.parts;
  await core.parts[0].storage.orm.em
    .fork()
    .execute("insert into claim (kind, name, account_id) values ('account', 'of a request', ?)", [there]);
  const parts = { accounts: new Accounts(storage), funds, freeGrant: 0, maxKeys: 20, newAccountId: () => v7() };
  const made = createAccountMethods(parts as never).createAccount?.(
    { name: "again", requestId: "of a request" } as never,
    { values: new Map(), requestHeader: new Headers() } as never,
  );
  expect(await reasonOf(Promise.resolve(made))).toBe(Reason.LEDGER_UNAVAILABLE);
}, 60_000);

test("a reference that the first database has forgotten, as a restored one does, still stands for its account", async () => {
  const { core, here, there, reference } = await paidElsewhere();
  await core.parts[0].storage.orm.em.fork().execute("delete from claim");
  const paid = core.funds.credit({ accountId: here, kind: "paid", amount: usd, reference });
  expect(await reasonOf(paid)).toBe(Reason.PAYMENT_REFERENCE_CONFLICT);
  await core.funds.credit({ accountId: there, kind: "paid", amount: usd, reference });
  expect((await core.funds.statement(there)).balance).toBe(12n * BigInt(usd));
}, 60_000);
