import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { reasonTexts } from "#lib/errors/reason-texts.ts";
import { publicSurfaces } from "#lib/inference/surface-names.ts";
import { errorStatus } from "../../facades/error-status.ts";
import { code, table } from "./markdown.ts";

/** Every reason with its statuses, its meaning and what to do. */
export function reasonReference(): string {
  const rows = Object.entries(reasonTexts).map(([value, { what, advice }]) => {
    const reason: Reason = Number(value);
    const statuses = publicSurfaces.map((surface) => String(errorStatus(surface, failure(reason, ""))));
    return [code(Reason[reason]), ...statuses, what, advice];
  });
  return table(["reason", ...publicSurfaces, "what it means", "what to do"], rows);
}
