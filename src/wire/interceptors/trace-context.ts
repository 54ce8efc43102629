import { createContextKey } from "@connectrpc/connect";
import type { TraceContext } from "#lib/rpc/trace-context.ts";

/** The call's place in a trace, for the calls that it makes itself. Undefined: nothing is traced. */
export const traceContextKey = createContextKey<TraceContext | undefined>(undefined, { description: "trace context" });
