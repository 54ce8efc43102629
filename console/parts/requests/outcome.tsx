import type { Request } from "#gen/tollgate/metering/v1/request_pb.js";
import { Badge } from "../figures/badge.tsx";

/** How a request ended, in a word. */
export function Outcome({ request: { reason, leftOut } }: { readonly request: Request }) {
  if (reason === "") {
    return <Badge tone="good">finished</Badge>;
  }
  const others = leftOut > 0n ? ` and ${leftOut} more` : "";
  return <Badge tone="bad">{`${reason.toLowerCase().replaceAll("_", " ")}${others}`}</Badge>;
}
