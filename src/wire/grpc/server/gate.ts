import type { DescMethod } from "@bufbuild/protobuf";
import {
  type ConnectError,
  type ContextValues,
  createContextKey,
  type Interceptor,
  type UnaryRequest,
} from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { ListenerName } from "#lib/door/bounds.ts";
import { failure } from "#lib/errors/failure.ts";
import { applyInterceptors } from "../apply-interceptors.ts";
import { hearCall } from "../call-id.ts";

/** What is known about a call before its message is read. */
export interface CallHead {
  readonly method: DescMethod;
  readonly header: Headers;
  /** Carries the gate's results to the interceptors and the handler. */
  readonly contextValues: ContextValues;
}

/** Judges calls by their heads, so that no message is read or kept before its caller is known. */
export interface Gate {
  /**
   * Admits a call and returns its payer, whose share of the message memory the call uses. Returns at once where nothing
   * waits. Throws, or rejects with, a ConnectError.
   */
  admit(head: CallHead): string | Promise<string>;
  /** Judges a running call again, and counts nothing. Rejects with a ConnectError where it would not be admitted now. */
  judge(head: CallHead): Promise<void>;
  /** The address of a call's client: the peer's, or what a trusted peer tells. Absent: the peer's. */
  clientOf?(head: CallHead): string;
  /** Whether a peer is trusted to forward others' calls, each of which may end at any time. Absent: none is. */
  forwards?(peer: string): boolean;
}

/** The gate of a server whose interceptors check everything themselves. */
export const openGate: Gate = { admit: () => "", judge: async () => {} };

/** The refusal of a call whose payer has too many under way. */
export function tooManyCalls(): ConnectError {
  return failure(Reason.RATE_LIMITED, "Too many calls of this payer are under way.", { retryAfter: { seconds: 1n } });
}

/** The listener through which a call came. */
export const listenerKey = createContextKey<ListenerName>("public", { description: "listener" });

/** Why a call must end without its message being read. Undefined: it may continue. */
export const refusalKey = createContextKey<ConnectError | undefined>(undefined, { description: "refusal" });

/**
 * Runs a refused call through the interceptors, so that it is observed, counted and logged like any other. Resolves
 * with the error for the caller.
 */
export async function refuse(
  interceptors: readonly Interceptor[],
  call: Omit<UnaryRequest, "stream" | "service" | "requestMethod" | "message">,
  reason: ConnectError,
): Promise<unknown> {
  call.contextValues.set(refusalKey, reason);
  const end = applyInterceptors([hearCall, ...interceptors], () => Promise.reject(reason));
  // Interceptors get only the head: there is no message.
  const head = { ...call, stream: false, service: call.method.parent, requestMethod: "POST", message: {} };
  try {
    await end(head as unknown as UnaryRequest);
    return reason;
  } catch (error) {
    return error;
  }
}
