import { durationMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { ApiKeySchema } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { invalid, requireId } from "#lib/ids/validate-id.ts";
import { toInt64 } from "#lib/int64.ts";
import { readPage } from "#lib/rpc/pages.ts";
import { readUpdateMask } from "#lib/rpc/update-mask.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { presentLimits, readNamedLimits } from "#src/identity/accounts/keys/key-limits.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";
import { readCaller } from "#src/wire/interceptors/access/principal.ts";
import { noteBefore } from "#src/wire/interceptors/changes/change.ts";
import { rateLimitKey } from "../limits/rate-limit.ts";
import type { Dependencies } from "./dependencies.ts";
import { apiKeyMessage, rateLimitMessage } from "./messages.ts";
import { readVisible } from "./read-visible.ts";

const dayMs = 86_400_000;
const longestOverlapMs = 365 * dayMs;
const toId = ({ id }: { readonly id: string }) => id;

/** The methods about an account's keys. */
export function createKeyMethods(deps: Dependencies) {
  const { accounts, keys, funds } = deps;

  const limitRules = () => ({ now: deps.clock.now(), models: deps.models() });

  /** A key and the state of its budget. */
  async function describeKey(key: ApiKey) {
    const budget = toBudget(key);
    return apiKeyMessage(key, budget && (await deps.budgetState(budget)));
  }

  /** Notes a key's previous state, for the audit log. Throws KEY_NOT_FOUND. */
  async function noteKey(context: HandlerContext, id: string): Promise<void> {
    noteBefore(context, ApiKeySchema, apiKeyMessage(await keys.get(id)));
  }

  return {
    async createKey({ accountId, name, requestId, limits: asked }) {
      const id = requireId(accountId, "account");
      const limits = readNamedLimits(asked, readUpdateMask(undefined, presentLimits(asked)), limitRules());
      const { key, secret } = await keys.create(id, name, limits, requestId);
      return { key: await describeKey(key), secret };
    },

    async listKeys({ accountId, ...request }, context) {
      const { id } = await readVisible(accounts, accountId, context);
      const page = await readPage(`keys of ${id}`, request, (start) => keys.list(id, start), toId, isUuid);
      const shown = await Promise.all(page.entries.map(describeKey));
      return { keys: shown, nextPageToken: page.nextPageToken };
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
      return { key: await describeKey(key), secret };
    },

    async revokeKey({ keyId }, context) {
      const id = requireId(keyId, "key");
      await noteKey(context, id);
      const key = await keys.revoke(id);
      deps.accountChanged(key.accountId);
      return { key: await describeKey(key) };
    },

    async updateKey({ keyId, name, updateMask, limits: asked }, context) {
      const changes = readUpdateMask(updateMask, { name, ...presentLimits(asked) });
      const limits = readNamedLimits(asked, changes, limitRules());
      const id = requireId(keyId, "key");
      await noteKey(context, id);
      const key = await keys.update(id, limits, changes.has("name") ? (name ?? "") : undefined);
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
