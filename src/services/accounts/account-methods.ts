import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import { AccountSchema } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { UpdateAccountRequest } from "#gen/tollgate/accounts/v1/account_requests_pb.js";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { invalid, requireId } from "#lib/ids/validate-id.ts";
import { readWiredClass } from "#lib/limits/service-class.ts";
import { cent } from "#lib/money/cents.ts";
import { formatUsd, maxPicoUsd } from "#lib/money/money.ts";
import { type PageRequest, pageSizes, readPage } from "#lib/rpc/pages.ts";
import { readUpdateMask } from "#lib/rpc/update-mask.ts";
import type { AccountChanges } from "#src/identity/accounts/accounts.ts";
import type { NewAccount } from "#src/money/model/payments.ts";
import { type Account, closedReason } from "#src/storage/entities/account.ts";
import { readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import { noteBefore, noteWithin } from "#src/wire/interceptors/changes/change.ts";
import type { Dependencies } from "./dependencies.ts";
import { accountMessage } from "./messages.ts";
import { noteMovement } from "./money-methods.ts";
import { readVisible } from "./read-visible.ts";

const toId = ({ id }: { readonly id: string }) => id;

/** Tells that money goes back where it came from once running requests have ended. */
const refundsWait = (amount: bigint) =>
  `Running requests hold money, and ${formatUsd(amount)} USD go back to where they came from once they have ended: send the call again then.`;

/** What a member may change of its account. */
const ownChanges: ReadonlySet<string> = new Set(["name", "email", "lowBalance"]);

/** What a request changes, with the credit line, which is money. */
type Changes = AccountChanges & { creditLine?: number };

/** Throws PERMISSION_DENIED when a member asks for what operators decide. */
function requireOwnChanges(context: HandlerContext, facts: Changes): void {
  const wrong = Object.keys(facts).find((field) => !ownChanges.has(field));
  if (readPrincipal(context).kind === "caller" && wrong !== undefined) {
    throw failure(
      Reason.PERMISSION_DENIED,
      `Members change the name, the address and the low balance of an account, not ${wrong}.`,
    );
  }
}

/** The methods about accounts themselves. */
export function createAccountMethods(deps: Dependencies) {
  const { accounts, funds } = deps;

  async function describe(account: Account) {
    return { account: accountMessage(account, await funds.statement(account.id), await lastUse(account.id)) };
  }

  const lastUse = async (id: string) => (await accounts.lastUses([id])).get(id);

  async function describeWithAllLots(account: Account, page: PageRequest) {
    const list = `lots of ${account.id}`;
    const lots = await readPage(list, page, (start) => funds.lots(account.id, start), toId, isUuid);
    const statement = await funds.statement(account.id);
    return {
      account: accountMessage(account, { ...statement, lots: lots.entries }, await lastUse(account.id)),
      nextPageToken: lots.nextPageToken,
    };
  }

  async function open(account: NewAccount, context: HandlerContext) {
    const { id, maxKeys, email } = account;
    const after = { id, max_keys: maxKeys, free_grant_pico_usd: String(deps.freeGrant), ...(email && { email }) };
    await noteWithin(context, (note) =>
      funds.open(account, deps.freeGrant, (em) => note(em, { target: account.id, after })),
    );
  }

  /** Makes an account unless the same request has made one. */
  async function openOnce(account: NewAccount & { requestId: string }, context: HandlerContext): Promise<Account> {
    const before = await accounts.madeBy(account.requestId);
    if (before !== undefined) {
      return before;
    }
    try {
      await open(account, context);
    } catch (error) {
      // The same request was sent twice at once: the database lets only one of them make the account.
      const other = await accounts.madeBy(account.requestId);
      if (other === undefined) {
        throw error;
      }
      return other;
    }
    return accounts.get(account.id);
  }

  /** Notes an account's previous state, without its money, for the audit log. Throws ACCOUNT_NOT_FOUND. */
  async function noteAccount(context: HandlerContext, id: string): Promise<void> {
    const { name, email, maxKeys, maxInFlight, lowBalance, creditLine, frozenReason } = await accounts.get(id);
    noteBefore(context, AccountSchema, {
      id,
      name,
      maxKeys,
      ...(email ? { email } : {}),
      ...(frozenReason ? { frozen: true, frozenReason } : {}),
      ...(maxInFlight ? { maxInFlight } : {}),
      ...(lowBalance ? { lowBalancePicoUsd: BigInt(lowBalance) } : {}),
      creditLinePicoUsd: BigInt(creditLine),
    });
  }

  /** What was paid and not spent, in pico-USD. */
  async function sumUnspent(accountId: string): Promise<bigint> {
    let unspent = 0n;
    for (let after: string | undefined; ; ) {
      const lots = await funds.lots(accountId, { after, limit: pageSizes.most });
      for (const { kind, remaining } of lots) {
        unspent += kind === "paid" ? BigInt(remaining) : 0n;
      }
      after = lots.at(-1)?.id;
      if (lots.length < pageSizes.most) {
        return unspent;
      }
    }
  }

  /**
   * Takes all that was paid and not spent out of the books. `left`: what has to go back through the payment provider
   * first. Throws REFUND_EXCEEDS_BALANCE while running requests hold some of it.
   */
  async function refundAll(accountId: string, reference: string, left: bigint, context: HandlerContext) {
    const unspent = await sumUnspent(accountId);
    const elsewhere = unspent < left ? unspent : left;
    if (elsewhere >= BigInt(cent)) {
      throw failure(Reason.REFUND_EXCEEDS_BALANCE, refundsWait(elsewhere));
    }
    for (let rest = unspent; rest > 0n; ) {
      const more = (rest - 1n) / maxPicoUsd; // one movement has a bound
      const amount = more > 0n ? maxPicoUsd : rest;
      const refund = { accountId, amount: Number(amount), reference: more > 0n ? `${reference}-${more}` : reference };
      await noteMovement(context, (alongside) => funds.refund(refund, alongside));
      rest -= amount;
    }
    return unspent;
  }

  return {
    async createAccount(request, context) {
      const { name, requestId, email, maxKeys = deps.maxKeys } = request;
      const id = deps.random.uuid();
      const account = { id, name, maxKeys, ...(email !== "" && { email }) };
      if (requestId === "") {
        await open(account, context);
        return describe(await accounts.get(id));
      }
      return describe(await openOnce({ ...account, requestId }, context));
    },

    async getAccount({ accountId, allLots, ...page }, context) {
      const account = await readVisible(accounts, accountId, context);
      if (allLots) {
        return describeWithAllLots(account, page);
      }
      if (page.pageSize !== 0) {
        throw invalid("page_size", "Only all lots have pages: set all_lots.");
      }
      if (page.pageToken !== "") {
        throw invalid("page_token", "Only all lots have pages: set all_lots.");
      }
      return describe(account);
    },

    async updateAccount(request, context) {
      const id = requireId(visibleAccount(context, request.accountId), "account");
      const facts = readChanges(request, deps.maxKeys);
      requireOwnChanges(context, facts);
      await noteAccount(context, id);
      const { creditLine, ...others } = facts;
      const account = await accounts.update(id, others);
      if (creditLine !== undefined) {
        await funds.setCreditLine(id, creditLine);
        account.creditLine = creditLine;
      }
      deps.accountChanged(id);
      return describe(account);
    },

    async closeAccount({ accountId, requestId }, context) {
      const id = requireId(visibleAccount(context, accountId), "account");
      await noteAccount(context, id);
      // Nothing may be spent from now on. Money comes first: a failure leaves the people who can send the call again.
      await accounts.close(id, new Date(deps.clock.now()));
      deps.accountChanged(id);
      const { gone, left } = await deps.giveBack(id, `close-${requestId}`);
      const refunded = gone + (await refundAll(id, `close-${requestId}`, left, context));
      await deps.removePeople(id);
      deps.accountChanged(id);
      return { ...(await describe(await accounts.get(id))), refundedPicoUsd: refunded };
    },

    async freezeAccount({ accountId, reason }, context) {
      const id = requireId(accountId, "account");
      if (reason === closedReason) {
        throw invalid("reason", "Only closing an account makes it closed: name another reason.");
      }
      await noteAccount(context, id);
      const account = await accounts.freeze(id, reason, new Date(deps.clock.now()));
      deps.accountChanged(id);
      return describe(account);
    },

    async unfreezeAccount({ accountId }, context) {
      const id = requireId(accountId, "account");
      await noteAccount(context, id);
      const account = await accounts.unfreeze(id);
      deps.accountChanged(account.id);
      return describe(account);
    },
  } satisfies Partial<ServiceImpl<typeof AccountsService>>;
}

/** What a request changes. */
function readChanges(request: UpdateAccountRequest, usualKeys: number): Changes {
  const { name, email, maxKeys, maxInFlight, lowBalancePicoUsd, serviceClass, creditLinePicoUsd, updateMask } = request;
  const changes = readUpdateMask(updateMask, {
    ...{ name, email, max_keys: maxKeys, max_in_flight: maxInFlight, low_balance_pico_usd: lowBalancePicoUsd },
    service_class: serviceClass || undefined,
    credit_line_pico_usd: creditLinePicoUsd,
  });
  const all: Record<string, Changes> = {
    name: { name: name ?? "" },
    email: { email: email || null },
    max_keys: { maxKeys: maxKeys ?? usualKeys },
    max_in_flight: { maxInFlight: maxInFlight ?? null },
    service_class: { serviceClass: readWiredClass(serviceClass) ?? null },
    low_balance_pico_usd: { lowBalance: toAmount(lowBalancePicoUsd) },
    credit_line_pico_usd: { creditLine: Number(creditLinePicoUsd ?? 0n) },
  };
  return Object.assign({}, ...[...changes].map((field) => all[field]));
}

/** An amount as it is stored. Null: none. */
function toAmount(picoUsd: bigint | undefined): number | null {
  return picoUsd === undefined ? null : Number(picoUsd);
}
