import type { DescMethod } from "@bufbuild/protobuf";
import {
  type Code,
  ConnectError,
  createContextKey,
  type Interceptor,
  type StreamRequest,
  type UnaryRequest,
} from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import type { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { isRequestId } from "#lib/ids/request-id.ts";
import type { SurfaceName } from "#lib/inference/surface-names.ts";
import type { Clock } from "#lib/time/clock.ts";
import { readNamed, requestIdKey } from "../../grpc/call-id.ts";
import { principalKey } from "../access/principal.ts";
import { readSurface } from "../surface.ts";
import { watchStream } from "../watch-stream.ts";
import {
  type CallerFacts,
  type Known,
  readAsked,
  readCallerFacts,
  readModel,
  readRefused,
  readRefusedOnHead,
} from "./caller-facts.ts";
import { type LimitName, readRefusedLimit } from "./refused-limit.ts";

/** The id by which the engine knows a metered call. Empty: no engine was asked. */
export const runIdKey = createContextKey("", { description: "run id" });

/** The inference server that was asked last. Empty: none was. */
export const serverKey = createContextKey("", { description: "server" });

/** A call that is over. */
export interface EndedCall {
  readonly method: DescMethod;
  /** Empty: the call has none. */
  readonly requestId: string;
  /** Empty: no engine was asked. */
  readonly runId: string;
  /** Undefined: it succeeded. */
  readonly code: Code | undefined;
  /** Undefined: it succeeded, was left by its caller, or met a bug. */
  readonly reason: Reason | undefined;
  /** Undefined: no limit refused it. */
  readonly limit: LimitName | undefined;
  /** The model that was asked for, in its caller's words, which no log gets. Empty: none. */
  readonly model: string;
  /** The status with which a facade refuses a request, of which the call tells. 0: it tells of none. */
  readonly refusedStatus: number;
  /** Whose call it was. Undefined: it succeeded, and tells of no refusal. */
  readonly caller: CallerFacts | undefined;
  /** Whether it came without a credential that was known. */
  readonly isKeyless: boolean;
  readonly surface: SurfaceName;
  /** The inference server that was asked last. Empty: none was. */
  readonly server: string;
  /** The call's duration, in milliseconds. */
  readonly ms: number;
}

/** Called with every call when it is over. Never gets a body, a header or a credential. */
export type CallObserver = (call: EndedCall) => void;

/** How a call ended, from its error, if any, and its signal. */
export function toOutcome(error: unknown, signal: AbortSignal): Pick<EndedCall, "code" | "reason" | "limit"> {
  // A stream that its caller left has no error of its own.
  const cause = error ?? (signal.aborted ? signal.reason : undefined);
  if (cause === undefined) {
    return { code: undefined, reason: undefined, limit: undefined };
  }
  const detail = readDetail(cause);
  return { code: ConnectError.from(cause).code, reason: detail?.reason, limit: detail && readRefusedLimit(detail) };
}

const nobody: Known = { trusts: () => false, isServed: () => false };

/** Reports every call to the observers, once, however it ends. */
export function observeCalls(clock: Clock, observers: readonly CallObserver[], known: Known = nobody): Interceptor {
  return (next) => async (request) => {
    const started = clock.monotonic();
    const own = readOwnId(request);
    const values = request.contextValues;
    if (own !== "") {
      values.set(requestIdKey, own);
    }
    const tell = (error?: unknown): unknown => {
      const outcome = toOutcome(error, request.signal);
      const refusedStatus = readRefusedStatus(request, outcome.code, known.trusts);
      const isRefused = outcome.code !== undefined || refusedStatus > 0;
      const call: EndedCall = {
        method: request.method,
        requestId: values.get(requestIdKey) || (isRefused ? readNamed(request.header) : ""),
        runId: values.get(runIdKey),
        ...outcome,
        isKeyless: values.get(principalKey) === undefined,
        model: readModel(request),
        refusedStatus,
        caller: isRefused ? readCallerFacts(request, known) : undefined,
        surface: readSurface(request.header),
        server: values.get(serverKey),
        ms: clock.monotonic() - started,
      };
      for (const observe of observers) {
        observe(call);
      }
      return error;
    };
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: watchStream(response.message, tell) };
      }
      tell();
      return response;
    } catch (error) {
      throw tell(error);
    }
  };
}

/** A facade that asks who calls has refused the request already; one that counts it does so if this call succeeds. */
function readRefusedStatus(
  request: UnaryRequest | StreamRequest,
  code: Code | undefined,
  trusts: Known["trusts"],
): number {
  const status = readRefused(request);
  if (request.method === AccountsService.method.identifyCaller) {
    return status || readRefusedOnHead(request, trusts);
  }
  return code === undefined ? status : 0;
}

const metered: ReadonlySet<DescMethod> = new Set([InferenceService.method.generate, EmbeddingsService.method.embed]);

/** The id that its caller gave a metered request. Empty: none, nothing like an id, or the message is still to come. */
function readOwnId(request: UnaryRequest | StreamRequest): string {
  const asked = metered.has(request.method) ? readAsked(request) : {};
  return "requestId" in asked && isRequestId(asked.requestId) ? asked.requestId : "";
}
