import { durationMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { ApiKeySchema } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { invalid, requireId } from "#lib/ids/validate-id.ts";
import type { LimitValues } from "#lib/limits/key-limits.ts";
import { toInt64 } from "#lib/money/int64.ts";
import { type PageStart, readPage } from "#lib/rpc/pages.ts";
import { readUpdateMask } from "#lib/rpc/update-mask.ts";
import { dayMs } from "#lib/time/days.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { presentLimits, readNamedLimits } from "#src/identity/accounts/keys/key-limits.ts";
import { isAgeKey, toAgeKey } from "#src/identity/accounts/keys/key-lists.ts";
import {
  requireChangeable,
  requirePerson,
  requireUnlimited,
  requireVisible,
  requireWithinAccount,
} from "#src/identity/accounts/keys/management.ts";
import { isUseKey, toUseKey } from "#src/identity/accounts/keys/use-key.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";
import { readCaller, readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import { noteBefore } from "#src/wire/interceptors/changes/change.ts";
import type { Principal } from "#src/wire/principal.ts";
import { rateLimitKey } from "../limits/rate-limit.ts";
import type { Dependencies } from "./dependencies.ts";
import { apiKeyMessage, rateLimitMessage } from "./messages.ts";
import { readVisible } from "./read-visible.ts";

const longestOverlapMs = 365 * dayMs;
const toId = ({ id }: { readonly id: string }) => id;

const toPersonId = (principal: Principal) => (principal.kind === "caller" ? principal.personId : undefined);

/** The methods about an account's keys. */
export function createKeyMethods(deps: Dependencies) {
  const { accounts, keys, funds } = deps;

  const limitRules = () => ({ now: deps.clock.now(), models: deps.models() });

  /** A key and the state of its budget. */
  async function describeKey(key: ApiKey) {
    const budget = toBudget(key);
    return apiKeyMessage(key, budget && (await deps.budgetState(budget)));
  }

  /**
   * A key that the caller may change. Notes its state, for the audit log. Throws KEY_NOT_FOUND, and PERMISSION_DENIED
   * for a management key when another key asks.
   */
  async function openKey(context: HandlerContext, keyId: string): Promise<ApiKey> {
    const key = await keys.get(requireId(keyId, "key"));
    requireChangeable(readPrincipal(context), key);
    noteBefore(context, ApiKeySchema, apiKeyMessage(key));
    return key;
  }

  /** Throws INVALID_ARGUMENT for limits that a key must not have: of management, or by a member above its account's. */
  async function requireLimits(
    context: HandlerContext,
    { accountId, manages }: Pick<ApiKey, "accountId" | "manages">,
    limits: LimitValues,
  ): Promise<void> {
    if (manages) {
      requireUnlimited(limits);
    }
    if (readPrincipal(context).kind === "caller") {
      await requireWithinAccount(limits, await accounts.get(accountId), () => deps.tierRpm(accountId));
    }
  }

  return {
    async createKey({ accountId: named, name, requestId, manages, limits: asked }, context) {
      const accountId = requireId(visibleAccount(context, named), "account");
      const principal = readPrincipal(context);
      requirePerson(principal, manages);
      const limits = readNamedLimits(asked, readUpdateMask(undefined, presentLimits(asked)), limitRules());
      await requireLimits(context, { accountId, manages }, limits);
      const { key, secret } = await keys.create(accountId, name, limits, {
        manages,
        personId: toPersonId(principal),
        requestId,
      });
      return { key: await describeKey(key), secret };
    },

    async listKeys({ accountId, withoutRevoked, newestFirst, ...request }, context) {
      const whose = visibleAccount(context, accountId);
      const id = whose === "" ? "" : (await readVisible(accounts, accountId, context)).id;
      const what = withoutRevoked ? "keys that are not revoked" : "keys";
      const byUse = (start: PageStart) => keys.listByUse(start, withoutRevoked);
      const oldest = (start: PageStart) => keys.list(id, start, withoutRevoked);
      const newest = (start: PageStart) => keys.listNewest(id, start, withoutRevoked);
      const page = await (id === ""
        ? readPage(what, request, byUse, toUseKey, isUseKey)
        : newestFirst
          ? readPage(`newest ${what} of ${id}`, request, newest, toAgeKey, isAgeKey)
          : readPage(`${what} of ${id}`, request, oldest, toId, isUuid));
      const shown = await Promise.all(page.entries.map(describeKey));
      return { keys: shown, nextPageToken: page.nextPageToken };
    },

    async getKey({ keyId }, context) {
      const key = await keys.get(requireId(keyId, "key"));
      requireVisible(readPrincipal(context), key);
      return { key: await describeKey(key) };
    },

    async rotateKey({ keyId, overlap, requestId }, context) {
      const overlapMs = overlap ? durationMs(overlap) : dayMs;
      if (!(overlapMs >= 0 && overlapMs <= longestOverlapMs)) {
        throw invalid("overlap", "An overlap must be from 0 to 365 days.");
      }
      const { id } = await openKey(context, keyId);
      const { key, secret } = await keys.rotate(id, overlapMs, requestId);
      deps.accountChanged(key.accountId);
      return { key: await describeKey(key), secret };
    },

    async revokeKey({ keyId }, context) {
      const { id } = await openKey(context, keyId);
      const key = await keys.revoke(id);
      deps.accountChanged(key.accountId);
      return { key: await describeKey(key) };
    },

    async updateKey({ keyId, name, disabled, updateMask, limits: asked }, context) {
      const changes = readUpdateMask(updateMask, { name, disabled, ...presentLimits(asked) });
      const limits = readNamedLimits(asked, changes, limitRules());
      const facts = {
        name: changes.has("name") ? (name ?? "") : undefined,
        disabled: changes.has("disabled") ? (disabled ?? false) : undefined,
      };
      const old = await openKey(context, keyId);
      await requireLimits(context, old, limits);
      const key = await keys.update(old.id, limits, facts);
      deps.accountChanged(key.accountId);
      return { key: await describeKey(key) };
    },

    async getKeyStatus({ withCredited }, context) {
      const caller = readCaller(context);
      const rateLimit = context.values.get(rateLimitKey);
      const { balance, debt, freeOnly } = await funds.statement(caller.accountId);
      return {
        ...(caller.keyId === "" ? {} : { key: await describeKey(await keys.get(caller.keyId)) }),
        accountId: caller.accountId,
        ...(rateLimit && { rateLimit: rateLimitMessage(rateLimit) }),
        balancePicoUsd: toInt64(balance),
        freeOnly,
        frozen: caller.frozenReason !== undefined,
        debtPicoUsd: debt,
        ...(withCredited && { creditedPicoUsd: toInt64(await funds.credited(caller.accountId)) }),
      };
    },
  } satisfies Partial<ServiceImpl<typeof AccountsService>>;
}
