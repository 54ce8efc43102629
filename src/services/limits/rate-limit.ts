import { type DescMethod, getOption } from "@bufbuild/protobuf";
import {
  ConnectError,
  createContextKey,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { RateLimitUse, rate_limit_use } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { type RateLimitState, withRateLimit, writeRateLimit } from "#lib/rpc/rate-limit.ts";
import type { RateLimits } from "#src/money/rate-limits/interface.ts";
import type { Next } from "#src/wire/grpc/apply-interceptors.ts";
import { OneMessage, onlyMessage } from "#src/wire/grpc/messages/request-messages.ts";
import { readCaller } from "#src/wire/interceptors/access/principal.ts";
import type { Caller } from "#src/wire/principal.ts";
import { readTokenBound } from "./token-bound.ts";
import { TokenTally, tokenTallyKey } from "./token-tally.ts";

/** The state of the caller's limits after this call was counted or looked up. Undefined: the method does neither. */
export const rateLimitKey = createContextKey<RateLimitState | undefined>(undefined, { description: "rate limit" });

/**
 * Where all accounts wait for a server, the caller's is served so many times the tokens of an account with weight 1.
 */
export const turnWeightKey = createContextKey(1, { description: "turn weight" });

/**
 * Applies a method's `tollgate.metering.v1.rate_limit_use` option to the caller's limits, after its credential is
 * checked and before anything else of the request. Puts the state of the limits into the metadata of the response or
 * the error. A running request keeps its places, and the tokens that it may use, until its call is over and, where the
 * key has a token limit, its hold has ended.
 */
export function limitRates(limits: RateLimits): Interceptor {
  return (next) => (request) => {
    const use = readUse(request.method);
    if (use === RateLimitUse.UNSPECIFIED) {
      return next(request);
    }
    const caller = readCaller({ values: request.contextValues });
    if (use === RateLimitUse.RUN) {
      return run(next, limits, request, caller);
    }
    return count(limits, use, caller).then((state) => tell(next, request, state));
  };
}

function count(
  limits: RateLimits,
  use: Exclude<RateLimitUse, RateLimitUse.UNSPECIFIED | RateLimitUse.RUN>,
  caller: Caller,
): Promise<RateLimitState> {
  switch (use) {
    case RateLimitUse.READ:
      return limits.read(caller);
    case RateLimitUse.COUNT:
      return limits.admit(caller);
  }
}

type Request = UnaryRequest | StreamRequest;
type Response = UnaryResponse | StreamResponse;

async function run(next: Next, limits: RateLimits, request: Request, caller: Caller): Promise<Response> {
  // None of this is needed for a key without a token limit.
  const counts = caller.tokensPerMinute !== undefined;
  const reading = counts ? readBound(request) : { request, bound: 0 };
  const bounded = reading instanceof Promise ? await reading : reading;
  const { rateLimit, turnWeight, leave } = await limits.begin(caller, bounded.bound);
  if (turnWeight !== 1) {
    request.contextValues.set(turnWeightKey, turnWeight);
  }
  const tally = counts ? new TokenTally(leave) : undefined;
  request.contextValues.set(tokenTallyKey, tally);
  const end = () => (tally === undefined ? leave(0) : tally.over());
  let isOpen = false;
  try {
    const response = await tell(next, bounded.request, rateLimit);
    isOpen = response.stream && !(response.message instanceof OneMessage) && !request.signal.aborted;
    return response;
  } finally {
    if (isOpen) {
      // Every transport aborts the signal when the call is over. That is cheaper than watching each message.
      request.signal.addEventListener("abort", end, { once: true });
    } else {
      end();
    }
  }
}

/** The bound on a request's tokens, and the request with its message still readable. */
interface Bounded {
  readonly request: Request;
  readonly bound: number;
}

/** Reads the bound, at once where the message is available: on every transport, unless an interceptor wrapped it. */
function readBound(request: Request): Bounded | Promise<Bounded> {
  if (!request.stream) {
    return { request, bound: readTokenBound(request.message) };
  }
  const { message: messages } = request;
  if (messages instanceof OneMessage) {
    return { request, bound: readTokenBound(messages.message) };
  }
  return onlyMessage(messages).then((message) => ({
    request: { ...request, message: new OneMessage(message) },
    bound: readTokenBound(message),
  }));
}

async function tell(next: Next, request: Request, state: RateLimitState): Promise<Response> {
  request.contextValues.set(rateLimitKey, state);
  try {
    const response = await next(request);
    writeRateLimit(response.header, state);
    return response;
  } catch (error) {
    throw error instanceof ConnectError ? withRateLimit(error, state) : error;
  }
}

const uses = new WeakMap<DescMethod, RateLimitUse>();

/** What a method does to its caller's rate limit. */
export function readUse(method: DescMethod): RateLimitUse {
  let found = uses.get(method);
  if (found === undefined) {
    found = getOption(method, rate_limit_use);
    uses.set(method, found);
  }
  return found;
}
