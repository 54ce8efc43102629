import type { DescMethod } from "@bufbuild/protobuf";
import {
  type ConnectError,
  type ContextValues,
  createContextKey,
  type Interceptor,
  type UnaryRequest,
} from "@connectrpc/connect";
import { applyInterceptors } from "../apply-interceptors.ts";

/** The facts of a call before any of its message is read. */
export interface CallHead {
  readonly method: DescMethod;
  readonly header: Headers;
  /** Carries the gate's findings to the interceptors and the handler. */
  readonly contextValues: ContextValues;
}

/** Judges calls by their heads, so that no message is read or kept before its caller is known. */
export interface Gate {
  /** Lets a call in and names its payer, whose share of the memory for messages it takes from. At once where nothing waits. Rejects with a ConnectError. */
  admit(head: CallHead): string | Promise<string>;
}

/** The gate of a server whose interceptors check everything themselves. */
export const openGate: Gate = { admit: () => "" };

/** Why a call must end without its message being read. Undefined: it may go on. */
export const refusalKey = createContextKey<ConnectError | undefined>(undefined, { description: "refusal" });

/**
 * Runs a call that is refused through the interceptors, so that it is observed, counted and logged as any other.
 * Resolves with the error for the caller.
 */
export async function refuse(
  interceptors: readonly Interceptor[],
  call: Omit<UnaryRequest, "stream" | "service" | "requestMethod" | "message">,
  reason: ConnectError,
): Promise<unknown> {
  call.contextValues.set(refusalKey, reason);
  const end = applyInterceptors(interceptors, () => Promise.reject(reason));
  // Interceptors see the head alone: there is no message.
  const head = { ...call, stream: false, service: call.method.parent, requestMethod: "POST", message: {} };
  try {
    await end(head as unknown as UnaryRequest);
    return reason;
  } catch (error) {
    return error;
  }
}
