import type { Found } from "#gen/tollgate/find/v1/find_service_pb.js";
import { isCustomer } from "../session.ts";

/** The page of a thing that was found. */
export function pageOfFound({ kind, id, accountId }: Found): string {
  switch (kind) {
    case "request":
      return `/requests/${id}`;
    case "model":
      return `/models/${id}`;
    case "server":
      return `/fleet?${new URLSearchParams({ find: id })}`;
    case "key":
      return isCustomer.value ? "/keys" : `/keys?account=${accountId}`;
    default:
      return isCustomer.value ? "/overview" : `/accounts/${accountId}`;
  }
}
