import { Code } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Logger } from "../../lib/logger.ts";
import type { CallObserver } from "./observe.ts";

/** Writes one line a call when it is over. */
export function logCalls(log: Logger): CallObserver {
  return ({ method, requestId, code, reason, ms }) => {
    const line = {
      method: `${method.parent.typeName}/${method.name}`,
      ...(requestId && { requestId }),
      code: code === undefined ? "OK" : Code[code],
      ...(reason !== undefined && { reason: Reason[reason] }),
      ms: Math.round(ms * 10) / 10,
    };
    log[levelOf(code)](line, "call");
  };
}

function levelOf(code: Code | undefined): "info" | "warn" | "error" {
  switch (code) {
    case Code.Internal:
    case Code.Unknown:
    case Code.DataLoss:
      return "error"; // a bug
    case Code.Unavailable:
    case Code.DeadlineExceeded:
      return "warn"; // the operator may have to do something
    default:
      return "info";
  }
}
