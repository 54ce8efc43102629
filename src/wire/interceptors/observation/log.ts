import { Code } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Logger } from "#lib/logger.ts";
import { methodName } from "#lib/rpc/method-name.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import type { CallObserver } from "./observe.ts";

/** What anybody can cause without a key must not fill the log: beyond so many lines of a kind, intervals log a sum. */
const intervalMs = 10_000;
const mostLines = 50;

type Level = "info" | "warn" | "error";

/** Writes one log line for each call when it is over. Many calls without a right credential, and many that are shed, are summed up. */
export function logCalls(log: Logger, clock: Clock = systemClock): CallObserver {
  const isSummed = createSums(log, clock);
  return ({ method, requestId, runId, code, reason, caller, isKeyless, refusedStatus, ms }) => {
    if (isSummed(reason, isKeyless, toLevel(code))) {
      return;
    }
    const line = {
      method: methodName(method),
      ...(requestId && refusedStatus === 0 && { requestId }), // the facade has a line of its own
      ...(runId && { runId }),
      code: code === undefined ? "OK" : Code[code],
      ...(reason !== undefined && { reason: Reason[reason] }),
      ...caller,
      ms: Math.round(ms * 10) / 10,
    };
    log[toLevel(code)](line, "call");
  };
}

/** Returns a function that tells whether a call's line is left out because a sum covers it. */
function createSums(
  log: Logger,
  clock: Clock,
): (reason: Reason | undefined, isKeyless: boolean, level: Level) => boolean {
  let refused = 0;
  let keyless = 0;
  let throttled = 0;
  let shed = 0;
  let isOpen = false;
  const close = () => {
    const leftOut = Math.max(0, refused - mostLines);
    const keylessLeftOut = Math.max(0, keyless - mostLines);
    if (keylessLeftOut > 0) {
      log.info({ calls: keylessLeftOut, seconds: intervalMs / 1000 }, "further calls without a credential");
    }
    if (shed > mostLines) {
      log.warn({ calls: shed - mostLines, seconds: intervalMs / 1000 }, "further calls refused for lack of room");
    }
    if (leftOut + throttled > 0) {
      log.warn({ unauthenticated: leftOut, throttled, seconds: intervalMs / 1000 }, "calls with wrong credentials");
    }
    [refused, throttled, keyless, shed, isOpen] = [0, 0, 0, 0, false];
  };
  const open = () => {
    if (isOpen) {
      return;
    }
    isOpen = true;
    clock.after(intervalMs, close);
  };
  return (reason, isKeyless, level) => {
    switch (reason) {
      case Reason.AUTHENTICATION_THROTTLED:
        open();
        throttled += 1;
        return true;
      case Reason.UNAUTHENTICATED:
        open();
        refused += 1;
        return refused > mostLines;
      case Reason.OVERLOADED:
        if (!isKeyless) {
          return false; // every server of a model is busy
        }
        open();
        shed += 1;
        return shed > mostLines;
      default:
        if (!isKeyless || level !== "info") {
          return false;
        }
        open();
        keyless += 1;
        return keyless > mostLines;
    }
  };
}

function toLevel(code: Code | undefined): Level {
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
