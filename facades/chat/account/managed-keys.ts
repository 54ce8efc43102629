import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { keysServiceRoutes } from "#gen/tollgate/chat/v1/keys_service_http.js";
import {
  CreateManagedKeyResponseSchema,
  DeleteManagedKeyResponseSchema,
  GetManagedKeyResponseSchema,
  LimitReset,
  ListManagedKeysResponseSchema,
  type ManagedKey,
  type UpdateManagedKeyRequest,
  UpdateManagedKeyResponseSchema,
} from "#gen/tollgate/chat/v1/managed_key_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { limitPath } from "#lib/limits/key-limits.ts";
import { formatUsd, maxPicoUsd, parseUsdNumber } from "#lib/money/money.ts";
import { pageSizes } from "#lib/rpc/pages.ts";
import { parseMoment } from "#lib/time/moment.ts";
import type { CoreClients } from "../../http/core/core-clients.ts";
import type { Exchange } from "../../http/exchange.ts";
import { usdAmount } from "../../http/json/decimal.ts";
import { jsonEncoder } from "../../http/json/encoder.ts";
import { refusedHere } from "../../http/refused-here.ts";
import { invalidField } from "../../http/request/error.ts";
import { createEndpoints } from "../../http/routing/endpoints.ts";
import type { Endpoint } from "../../http/routing/surface.ts";

// The keys of an account for programs with a management key, in the format that clients of aggregators read. The core
// decides what the management key may do; here its answers change their shape.

/** The most keys in one list. */
const pageSize = 100;

const writeList = jsonEncoder(ListManagedKeysResponseSchema);
const writeCreated = jsonEncoder(CreateManagedKeyResponseSchema);
const writeOne = jsonEncoder(GetManagedKeyResponseSchema);
const writeUpdated = jsonEncoder(UpdateManagedKeyResponseSchema);
const writeDeleted = jsonEncoder(DeleteManagedKeyResponseSchema);

/** The endpoints of an account's keys. */
export function createKeyEndpoints(core: CoreClients): Endpoint[] {
  return createEndpoints({
    ...{ core, routes: keysServiceRoutes, keyHeader: "authorization", surface: "chat" },
    admit: (exchange) => requireManagement(core, exchange),
    handlers: {
      async listManagedKeys({ offset }, exchange) {
        const keys = await listKeys(core, exchange, offset);
        const spent = await readSpent(core, exchange, "");
        const data = keys.map((key) => toManagedKey(key, spent));
        exchange.send(200, writeList({ $typeName: "tollgate.chat.v1.ListManagedKeysResponse", data }));
      },

      async createManagedKey({ name, limit, limitReset, expiresAt }, exchange) {
        const { key, secret } = await core.accounts.createKey(
          {
            name,
            limits: {
              ...(limit !== "" && { budgetPicoUsd: readLimit(limit) }),
              budgetPeriod: periods[limitReset],
              ...(expiresAt !== undefined && { expiresAt: readTime(expiresAt) }),
            },
          },
          exchange.callOptions,
        );
        const data = toManagedKey(required(key), new Map());
        const created = { $typeName: "tollgate.chat.v1.CreateManagedKeyResponse", data, key: secret } as const;
        exchange.send(201, writeCreated(created));
      },

      async getManagedKey({ hash }, exchange) {
        const key = await findKey(core, exchange, hash);
        const data = toManagedKey(key, await readSpent(core, exchange, hash));
        exchange.send(200, writeOne({ $typeName: "tollgate.chat.v1.GetManagedKeyResponse", data }));
      },

      async updateManagedKey(request, exchange) {
        const { id: keyId } = await findKey(core, exchange, request.hash);
        const changes = readChanges(request);
        const { key } = await core.accounts.updateKey({ keyId, ...changes }, exchange.callOptions);
        const data = toManagedKey(required(key), await readSpent(core, exchange, keyId));
        exchange.send(200, writeUpdated({ $typeName: "tollgate.chat.v1.UpdateManagedKeyResponse", data }));
      },

      async deleteManagedKey({ hash }, exchange) {
        const { id: keyId } = await findKey(core, exchange, hash);
        await core.accounts.revokeKey({ keyId }, exchange.callOptions);
        exchange.send(200, writeDeleted({ $typeName: "tollgate.chat.v1.DeleteManagedKeyResponse", deleted: true }));
      },
    },
  });
}

/** Throws PERMISSION_DENIED for a key that manages nothing, before anything of its body is read. */
async function requireManagement(core: CoreClients, exchange: Exchange): Promise<void> {
  const { memberRole } = await core.accounts.identifyCaller({}, exchange.callOptions);
  if (memberRole === MemberRole.UNSPECIFIED) {
    throw refusedHere(Reason.PERMISSION_DENIED, "Keys are managed by a management key; this key is for inference.");
  }
}

/** A page of the account's keys for inference that are not deleted, oldest first. */
async function listKeys(core: CoreClients, exchange: Exchange, offset: number): Promise<ApiKey[]> {
  const found: ApiKey[] = [];
  let pageToken = "";
  do {
    const asked = { pageSize: pageSizes.most, pageToken, withoutRevoked: true };
    const page = await core.accounts.listKeys(asked, exchange.callOptions);
    found.push(...page.keys.filter(({ manages }) => !manages));
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && found.length < offset + pageSize);
  return found.slice(offset, offset + pageSize);
}

/** A key for inference that is not deleted. Throws KEY_NOT_FOUND for any other. */
async function findKey(core: CoreClients, exchange: Exchange, hash: string): Promise<ApiKey> {
  const { key } = await core.accounts.getKey({ keyId: hash }, exchange.callOptions);
  if (key === undefined || key.revokedAt !== undefined || key.manages) {
    throw refusedHere(Reason.KEY_NOT_FOUND, "There is no such key.");
  }
  return key;
}

/** The fields that a request names, and null where it clears one. */
function readChanges({ name, disabled, limit, limitReset }: UpdateManagedKeyRequest) {
  const paths: string[] = [];
  if (name !== undefined) {
    paths.push("name");
  }
  if (disabled !== undefined) {
    paths.push("disabled");
  }
  if (limit !== undefined) {
    paths.push(limitPath("budgetPicoUsd"));
  }
  if (limitReset !== undefined) {
    paths.push(limitPath("budgetPeriod"));
  }
  return {
    ...(name !== undefined && { name }),
    ...(disabled !== undefined && { disabled }),
    limits: {
      ...(limit !== undefined && limit !== "" && { budgetPicoUsd: readLimit(limit) }),
      ...(limitReset !== undefined && { budgetPeriod: periods[limitReset] }),
    },
    updateMask: { paths },
  };
}

function readLimit(text: string): bigint {
  const amount = parseUsdNumber(text);
  if (amount === undefined || amount === 0n) {
    throw invalidField("limit", `must be above 0 and at most ${formatUsd(maxPicoUsd)}, with at most 12 decimals`);
  }
  return amount;
}

function readTime(text: string): Timestamp {
  const time = parseMoment(text);
  if (time === undefined) {
    throw invalidField("expires_at", "must be a time, such as 2026-01-31T12:00:00Z");
  }
  return timestampFromDate(time);
}

/** The spending of all keys of the account, or of one, by their ids. */
async function readSpent(core: CoreClients, exchange: Exchange, keyId: string): Promise<ReadonlyMap<string, bigint>> {
  const spent = new Map<string, bigint>();
  const request = { keyId, groupBy: [UsageGroup.KEY], fresh: true };
  for await (const { rows } of core.metering.streamUsage(request, exchange.callOptions)) {
    for (const row of rows) {
      spent.set(row.keyId, (spent.get(row.keyId) ?? 0n) + BigInt(row.totalCostPicoUsd));
    }
  }
  return spent;
}

function toManagedKey(key: ApiKey, spent: ReadonlyMap<string, bigint>): ManagedKey {
  const { budgetPicoUsd: limit, budgetPeriod = BudgetPeriod.UNSPECIFIED, expiresAt } = key.limits ?? {};
  const left = key.budgetLeftPicoUsd;
  return {
    $typeName: "tollgate.chat.v1.ManagedKey",
    hash: key.id,
    name: key.name,
    label: `${key.prefix}…${key.last4}`,
    disabled: key.disabled,
    limit: limit === undefined ? "" : usdAmount(limit),
    limitRemaining: left === undefined ? "" : usdAmount(left),
    limitReset: resets[budgetPeriod],
    usage: usdAmount(spent.get(key.id) ?? 0n),
    createdAt: key.createdAt === undefined ? "" : rfc3339(key.createdAt),
    ...(key.updatedAt !== undefined && { updatedAt: rfc3339(key.updatedAt) }),
    ...(expiresAt !== undefined && { expiresAt: rfc3339(expiresAt) }),
  };
}

const rfc3339 = (time: Timestamp) => timestampDate(time).toISOString();

function required(key: ApiKey | undefined): ApiKey {
  if (key === undefined) {
    throw new Error("the core answered without the key");
  }
  return key;
}

const periods: Readonly<Record<LimitReset, BudgetPeriod>> = {
  [LimitReset.UNSPECIFIED]: BudgetPeriod.UNSPECIFIED,
  [LimitReset.DAILY]: BudgetPeriod.DAY,
  [LimitReset.WEEKLY]: BudgetPeriod.WEEK,
  [LimitReset.MONTHLY]: BudgetPeriod.MONTH,
};

const resets: Readonly<Record<BudgetPeriod, LimitReset>> = {
  [BudgetPeriod.UNSPECIFIED]: LimitReset.UNSPECIFIED,
  [BudgetPeriod.TOTAL]: LimitReset.UNSPECIFIED,
  [BudgetPeriod.DAY]: LimitReset.DAILY,
  [BudgetPeriod.WEEK]: LimitReset.WEEKLY,
  [BudgetPeriod.MONTH]: LimitReset.MONTHLY,
};
