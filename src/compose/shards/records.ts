import { mergeLists, type PageStart } from "../../../lib/rpc/pages.ts";
import type { AuditRange, AuditTrail } from "../../audit/audit-trail.ts";
import type { Webhooks } from "../../events/webhooks.ts";
import type { Shards } from "./shards.ts";

/** The order of records, newest first, in which each database lists them. */
const newestFirst = <Entry extends { readonly at: Date }>(toId: (entry: Entry) => string) => {
  return (one: Entry, other: Entry) => other.at.getTime() - one.at.getTime() || (toId(one) < toId(other) ? 1 : -1);
};

/** The changes that operators made. Those of an account's money are in its own database, all others in the first. */
export function mergeTrails(trails: Shards<AuditTrail>): Pick<AuditTrail, "list"> {
  return {
    async list(range: AuditRange, start) {
      const lists = trails.all().map((trail) => (page: PageStart) => trail.list(range, page));
      return [
        ...(await mergeLists(
          lists,
          newestFirst(({ id }) => id),
        )(start)),
      ];
    },
  };
}

/** Endpoints, which are in the first database, and the events and deliveries of all databases. */
export function mergeEvents(webhooks: Shards<Webhooks>): Pick<Webhooks, keyof Webhooks> {
  return {
    create: async (url, events) => webhooks.first.create(url, events),
    get: async (id) => webhooks.first.get(id),
    list: async (start) => webhooks.first.list(start),
    rotate: async (id, overlapMs) => webhooks.first.rotate(id, overlapMs),
    delete: async (id) => webhooks.first.delete(id),
    async deliveries(id, start) {
      const lists = webhooks.all().map((one) => (page: PageStart) => one.deliveries(id, page));
      return [
        ...(await mergeLists(
          lists,
          newestFirst(({ eventId }) => eventId),
        )(start)),
      ];
    },
    async events(start, types) {
      const lists = webhooks.all().map((one) => (page: PageStart) => one.events(page, types));
      return [
        ...(await mergeLists(
          lists,
          newestFirst(({ id }) => id),
        )(start)),
      ];
    },
  };
}
