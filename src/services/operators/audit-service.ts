import type { JsonObject } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import type { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { readPage } from "#lib/rpc/pages.ts";
import { type AuditTrail, readAuditKey, toAuditKey } from "#src/identity/audit/audit-trail.ts";
import type { AuditEvent } from "#src/storage/entities/operators/audit-event.ts";
import { visibleAccount } from "#src/wire/interceptors/access/principal.ts";

/** Lists the changes that operators, members and management keys made. */
export function createAuditService(trail: Pick<AuditTrail, "list">): ServiceImpl<typeof AuditService> {
  return {
    async listAuditEvents({ from, to, accountId, target, operator, pageSize, pageToken }, context) {
      const account = visibleAccount(context, accountId);
      if (account !== "" && !isUuid(account)) {
        return {};
      }
      const wanted = {
        ...{ from: from && timestampDate(from), to: to && timestampDate(to) },
        ...{ accountId: account || undefined, target: target || undefined, operator: operator || undefined },
      };
      const { entries, nextPageToken } = await readPage(
        `changes of ${JSON.stringify([wanted.from, wanted.to, account, target, operator])}`,
        { pageSize, pageToken },
        (start) => trail.list(wanted, start),
        toAuditKey,
        (key) => readAuditKey(key) !== undefined,
      );
      return { auditEvents: entries.map(toMessage), nextPageToken };
    },
  };
}

function toMessage({ at, operatorId, keyId, personId, accountId, before, after, ...event }: AuditEvent) {
  return {
    ...event,
    at: timestampFromDate(at),
    operatorId: operatorId ?? "",
    keyId: keyId ?? "",
    personId: personId ?? "",
    accountId: accountId ?? "",
    after: JSON.parse(after) as JsonObject,
    ...(before ? { before: JSON.parse(before) as JsonObject } : {}),
  };
}
