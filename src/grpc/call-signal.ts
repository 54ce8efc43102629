import { Code, ConnectError } from "@connectrpc/connect";

/** The reason of a signal whose call ended in the ordinary way. One object: making an error captures a stack. */
const completed = new ConnectError("the call is over", Code.Canceled);

/** The life of one call as an AbortSignal. */
export interface CallSignal {
  /** Aborts when the caller gives up, when the deadline passes, and when the call is over. */
  readonly signal: AbortSignal;
  /** Ends the call with the error that its participants are to see. Only the first end counts. */
  abort(reason: ConnectError): void;
  /** Ends the call in the ordinary way. Only the first end counts. */
  complete(): void;
}

/** Starts a call's life, bound to the caller's signal and to a time limit in milliseconds. */
export function createCallSignal(caller: AbortSignal | undefined, timeoutMs: number | undefined): CallSignal {
  const controller = new AbortController();
  const end = (reason: ConnectError) => {
    if (controller.signal.aborted) return;
    clearTimeout(timer);
    caller?.removeEventListener("abort", onCallerAbort);
    controller.abort(reason);
  };
  const onCallerAbort = () => end(ConnectError.from(caller?.reason, Code.Canceled));
  const timer = setTimer(timeoutMs, () => end(deadlineExceeded()));
  if (caller?.aborted) onCallerAbort();
  else caller?.addEventListener("abort", onCallerAbort);
  return { signal: controller.signal, abort: end, complete: () => end(completed) };
}

/** The longest time that a timer takes; what is meant to last longer lasts for good. */
const longestTimerMs = 2 ** 31 - 1;

function setTimer(ms: number | undefined, callback: () => void): NodeJS.Timeout | undefined {
  return ms === undefined || ms > longestTimerMs ? undefined : setTimeout(callback, ms);
}

/** What both ends of a call see when its deadline passes. */
export function deadlineExceeded(): ConnectError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}
