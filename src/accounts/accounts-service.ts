import { durationMs, timestampDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import { AccountSchema } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { ApiKeySchema } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { Random } from "../../lib/ids/random.ts";
import { toInt64 } from "../../lib/int64.ts";
import { type PageRequest, readPage } from "../../lib/rpc/pages.ts";
import { readUpdateMask } from "../../lib/rpc/update-mask.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { callerOf, principalOf, visibleAccount } from "../interceptors/access/principal.ts";
import { noteBefore, noteWithin } from "../interceptors/changes/change.ts";
import { rateLimitKey } from "../interceptors/limits/rate-limit.ts";
import type { Alongside, Credit, Funds, PaymentStatement, PicoUsd } from "../metering/interface.ts";
import type { Account } from "../storage/entities/account.ts";
import type { Accounts } from "./accounts.ts";
import type { ApiKeys } from "./keys/api-keys.ts";
import { presentLimits, readBudget, readLimits } from "./keys/key-limits.ts";
import { accountMessage, apiKeyMessage, paymentMessage, rateLimitMessage } from "./messages.ts";
import { invalid, requireId } from "./validate.ts";

const dayMs = 86_400_000;
const longestOverlapMs = 365 * dayMs;
const toId = ({ id }: { readonly id: string }) => id;
const toPaymentKey = ({ id, at }: PaymentStatement) => `${at.getTime()} ${id}`;
const isPaymentKey = (key: string) => /^\d{1,15} [0-9a-f-]{36}$/.test(key);

/** Dependencies. */
export interface AccountsDependencies {
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  readonly funds: Funds;
  readonly clock: Clock;
  readonly random: Random;
  /** Tells this core and, as far as they can be reached, the others that an account or its keys have changed. */
  readonly accountChanged: (accountId: string) => void;
  /** Live keys that a new account may have unless its creation says otherwise. */
  readonly maxKeys: number;
  /** The grants of a new account. */
  readonly freeGrant: PicoUsd;
  /** Ids of the models that are served. */
  readonly models: () => readonly string[];
}

/** Accounts, their money coming in, and their keys. */
export function createAccountsService(deps: AccountsDependencies): ServiceImpl<typeof AccountsService> {
  const { accounts, keys, funds } = deps;

  const limitRules = () => ({ now: deps.clock.now(), models: deps.models() });

  async function describe(account: Account) {
    return { account: accountMessage(account, await funds.statement(account.id)) };
  }

  async function describeWithAllLots(account: Account, page: PageRequest) {
    const list = `lots of ${account.id}`;
    const lots = await readPage(list, page, (start) => funds.lots(account.id, start), toId, isUuid);
    const statement = await funds.statement(account.id);
    return {
      account: accountMessage(account, { ...statement, lots: lots.entries }),
      nextPageToken: lots.nextPageToken,
    };
  }

  async function credit(movement: Credit, context: HandlerContext) {
    const { lotId } = await noteMovement(context, (alongside) => funds.credit(movement, alongside));
    return moved(movement.accountId, lotId);
  }

  async function moved(accountId: string, lotId: string) {
    return { accountId, lotId, balancePicoUsd: toInt64((await funds.statement(accountId)).balance) };
  }

  /** The fields of every movement of money. */
  function movement(request: { accountId: string; amountPicoUsd: bigint; reference: string }) {
    return {
      accountId: requireId(request.accountId, "account"),
      amount: Number(request.amountPicoUsd),
      reference: request.reference,
    };
  }

  async function open(
    account: { id: string; name: string; maxKeys: number; requestId?: string },
    context: HandlerContext,
  ) {
    const after = { id: account.id, max_keys: account.maxKeys, free_grant_pico_usd: String(deps.freeGrant) };
    await noteWithin(context, (note) =>
      funds.open(account, deps.freeGrant, (em) => note(em, { target: account.id, after })),
    );
  }

  /** Makes an account unless the same request has made one. */
  async function openOnce(
    account: { id: string; name: string; maxKeys: number; requestId: string },
    context: HandlerContext,
  ): Promise<Account> {
    const before = await accounts.madeBy(account.requestId);
    if (before !== undefined) {
      return before;
    }
    try {
      await open(account, context);
    } catch (error) {
      // The same request, sent twice at once: the database lets one of them make the account.
      const other = await accounts.madeBy(account.requestId);
      if (other === undefined) {
        throw error;
      }
      return other;
    }
    return accounts.get(account.id);
  }

  /** Keeps what an account was, but for its money, for the audit log. Throws ACCOUNT_NOT_FOUND. */
  async function noteAccount(context: HandlerContext, id: string): Promise<void> {
    const { name, maxKeys, maxInFlight, lowBalance, frozenReason } = await accounts.get(id);
    noteBefore(context, AccountSchema, {
      ...{ id, name, maxKeys },
      ...(frozenReason ? { frozen: true, frozenReason } : {}),
      ...(maxInFlight ? { maxInFlight } : {}),
      ...(lowBalance ? { lowBalancePicoUsd: BigInt(lowBalance) } : {}),
    });
  }

  /** Keeps what a key was, for the audit log. Throws KEY_NOT_FOUND. */
  async function noteKey(context: HandlerContext, id: string): Promise<void> {
    noteBefore(context, ApiKeySchema, apiKeyMessage(await keys.get(id)));
  }

  /** An account that the caller may see; operators' labels are theirs. Throws ACCOUNT_NOT_FOUND, PERMISSION_DENIED. */
  async function readVisible(accountId: string, context: HandlerContext): Promise<Account> {
    const account = await accounts.get(requireId(visibleAccount(context, accountId), "account"));
    return principalOf(context).kind === "operator" ? account : { ...account, name: "" };
  }

  return {
    async createAccount(request, context) {
      const { name, requestId, maxKeys = deps.maxKeys } = request;
      const id = deps.random.uuid();
      if (requestId === "") {
        await open({ id, name, maxKeys }, context);
        return describe(await accounts.get(id));
      }
      return describe(await openOnce({ id, name, maxKeys, requestId }, context));
    },

    async getAccount({ accountId, allLots, ...page }, context) {
      const account = await readVisible(accountId, context);
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

    async listAccounts(request) {
      const { entries, nextPageToken } = await readPage(
        "accounts",
        request,
        (start) => accounts.list(start),
        toId,
        isUuid,
      );
      const messages = [];
      for (const account of entries) {
        messages.push((await describe(account)).account);
      }
      return { accounts: messages, nextPageToken };
    },

    async updateAccount({ accountId, name, maxKeys, maxInFlight, lowBalancePicoUsd, updateMask }, context) {
      const id = requireId(accountId, "account");
      const changes = readUpdateMask(updateMask, {
        ...{ name, max_keys: maxKeys, max_in_flight: maxInFlight, low_balance_pico_usd: lowBalancePicoUsd },
      });
      const facts = {
        ...(changes.has("name") ? { name: name ?? "" } : {}),
        ...(changes.has("max_keys") ? { maxKeys: maxKeys ?? deps.maxKeys } : {}),
        ...(changes.has("max_in_flight") ? { maxInFlight: maxInFlight ?? null } : {}),
        ...(changes.has("low_balance_pico_usd") ? { lowBalance: readBudget(lowBalancePicoUsd) } : {}),
      };
      await noteAccount(context, id);
      const account = await accounts.update(id, facts);
      deps.accountChanged(id);
      return describe(account);
    },

    async freezeAccount({ accountId, reason }, context) {
      const id = requireId(accountId, "account");
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

    async topUp(request, context) {
      return credit({ ...movement(request), kind: "paid" }, context);
    },

    async grant(request, context) {
      const expiresAt = request.expiresAt && timestampDate(request.expiresAt);
      if (expiresAt && !(expiresAt.getTime() > deps.clock.now())) {
        throw invalid("expires_at", "A grant must lapse in the future.");
      }
      return credit({ ...movement(request), kind: "grant", ...(expiresAt ? { expiresAt } : {}) }, context);
    },

    async refund(request, context) {
      const refund = movement(request);
      const { lotId } = await noteMovement(context, (alongside) => funds.refund(refund, alongside));
      return moved(request.accountId, lotId);
    },

    async createKey({ accountId, name, requestId, ...fields }) {
      const id = requireId(accountId, "account");
      const limits = readLimits(fields, readUpdateMask(undefined, presentLimits(fields)), limitRules());
      const { key, secret } = await keys.create(id, name, limits, requestId);
      return { key: apiKeyMessage(key), secret };
    },

    async listPayments({ accountId, ...request }, context) {
      const { id } = await readVisible(accountId, context);
      const list = `payments of ${id}`;
      const page = await readPage(list, request, (start) => funds.payments(id, start), toPaymentKey, isPaymentKey);
      return {
        payments: page.entries.map((payment) => paymentMessage(id, payment)),
        nextPageToken: page.nextPageToken,
      };
    },

    async listKeys({ accountId, ...request }, context) {
      const { id } = await readVisible(accountId, context);
      const page = await readPage(`keys of ${id}`, request, (start) => keys.list(id, start), toId, isUuid);
      return { keys: page.entries.map(apiKeyMessage), nextPageToken: page.nextPageToken };
    },

    async rotateKey({ keyId, overlap, requestId }, context) {
      const overlapMs = overlap ? durationMs(overlap) : dayMs;
      if (!(overlapMs >= 0 && overlapMs <= longestOverlapMs)) {
        throw invalid("overlap", "An overlap must be from 0 to 365 days.");
      }
      const id = requireId(keyId, "key");
      await noteKey(context, id);
      const { key, secret } = await keys.rotate(id, overlapMs, requestId);
      deps.accountChanged(key.accountId);
      return { key: apiKeyMessage(key), secret };
    },

    async revokeKey({ keyId }, context) {
      const id = requireId(keyId, "key");
      await noteKey(context, id);
      const key = await keys.revoke(id);
      deps.accountChanged(key.accountId);
      return { key: apiKeyMessage(key) };
    },

    async updateKey({ keyId, name, updateMask, ...fields }, context) {
      const changes = readUpdateMask(updateMask, { name, ...presentLimits(fields) });
      const facts = {
        ...(changes.has("name") ? { name: name ?? "" } : {}),
        ...readLimits(fields, changes, limitRules()),
      };
      const id = requireId(keyId, "key");
      await noteKey(context, id);
      const key = await keys.update(id, facts);
      deps.accountChanged(key.accountId);
      return { key: apiKeyMessage(key) };
    },

    async getKeyStatus(_, context) {
      const caller = callerOf(context);
      const rateLimit = context.values.get(rateLimitKey);
      const { balance, debt, freeOnly } = await funds.statement(caller.accountId);
      return {
        ...(caller.keyId === "" ? {} : { key: apiKeyMessage(await keys.get(caller.keyId)) }),
        accountId: caller.accountId,
        ...(rateLimit && { rateLimit: rateLimitMessage(rateLimit) }),
        balancePicoUsd: toInt64(balance),
        freeOnly,
        frozen: caller.frozenReason !== undefined,
        debtPicoUsd: debt,
      };
    },

    async identifyCaller(_, context) {
      return { accountId: callerOf(context).accountId };
    },
  };
}

/** Moves money, and notes it in the audit log in the money's own transaction. */
function noteMovement<T>(context: HandlerContext, run: (alongside: Alongside) => Promise<T>): Promise<T> {
  return noteWithin(context, (note) =>
    run((em, { accountId, lotId, paidTotal }) =>
      note(em, {
        target: accountId,
        before: { paid_total_pico_usd: String(paidTotal.before) },
        after: { lot_id: lotId, paid_total_pico_usd: String(paidTotal.after) },
      }),
    ),
  );
}
