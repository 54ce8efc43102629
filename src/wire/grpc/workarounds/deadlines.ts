import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { longestTimerMs } from "../call-signal.ts";
import { streamOf } from "./server-call.ts";

/*
 * Wrong: grpc-js takes a deadline of more than 24.8 days, the longest time of a timer, for one that has passed, and calls one that
 * it cannot read an internal error of the server, before anybody knows who calls.
 * Upstream: @grpc/grpc-js 1.14.7 (`BaseServerInterceptingCall.handleTimeoutHeader`, private).
 * Still needed while test/wire/grpc/workarounds/deadlines.test.ts sees such a call end at once without it.
 * Delete when grpc-js waits for longer deadlines and says invalid_argument.
 */

const header = "grpc-timeout";
const form = /^(\d{1,8})([HMSmun])$/;
const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

const unreadable = new WeakSet<ServerHttp2Stream>();

/** Takes a deadline away that grpc-js does not understand. To be called before grpc-js sees the headers. */
export function mendDeadline(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const text = headers[header];
  if (text === undefined) {
    return;
  }
  const [, digits, unit = ""] = form.exec(String(text)) ?? [];
  if (digits === undefined) {
    unreadable.add(stream);
    delete headers[header];
  } else if (Number(digits) * (unitMs[unit] ?? 0) > longestTimerMs) {
    delete headers[header];
  }
}

/** Whether a call's deadline was taken away because it could not be read. */
export function hasUnreadableDeadline(call: ServerInterceptingCallInterface): boolean {
  return unreadable.has(streamOf(call));
}
