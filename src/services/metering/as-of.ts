import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { asOfHeader } from "#lib/rpc/call-headers.ts";

/**
 * An answer that tells how old it is, in its field and in a header. `asOf`: the moment that it is of, in milliseconds since
 * the epoch. Undefined: now, and nothing is told.
 */
export function withAge<Answer extends { readonly asOf: number | undefined }>(
  { responseHeader }: Pick<HandlerContext, "responseHeader">,
  { asOf, ...answer }: Answer,
): Omit<Answer, "asOf"> & { asOf?: Timestamp } {
  if (asOf === undefined) {
    return answer;
  }
  responseHeader.set(asOfHeader, new Date(asOf).toISOString());
  return { ...answer, asOf: timestampFromMs(asOf) };
}
