import type { JsonObject } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { readPage } from "#lib/rpc/pages.ts";
import { type AuditTrail, readAuditKey, toAuditKey } from "#src/identity/audit/audit-trail.ts";
import type { AuditEvent } from "#src/storage/entities/audit-event.ts";

/** Lists the changes that operators and management keys made. */
export function createAuditService(trail: Pick<AuditTrail, "list">): ServiceImpl<typeof AuditService> {
  return {
    async listAuditEvents({ from, ...request }) {
      const since = from && timestampDate(from);
      const { entries, nextPageToken } = await readPage(
        `changes from ${since?.getTime() ?? "the first"}`,
        request,
        (start) => trail.list({ from: since }, start),
        toAuditKey,
        (key) => readAuditKey(key) !== undefined,
      );
      return { auditEvents: entries.map(toMessage), nextPageToken };
    },
  };
}

function toMessage({ at, operatorId, keyId, before, after, ...event }: AuditEvent) {
  return {
    ...event,
    at: timestampFromDate(at),
    operatorId: operatorId ?? "",
    keyId: keyId ?? "",
    after: JSON.parse(after) as JsonObject,
    ...(before ? { before: JSON.parse(before) as JsonObject } : {}),
  };
}
