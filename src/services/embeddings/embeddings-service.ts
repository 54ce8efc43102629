import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { EmbeddingsService, EmbedRequest } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import type { Random } from "#lib/ids/random.ts";
import { highestClass } from "#lib/limits/service-class.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Catalogue } from "#src/fleet/catalogue/interface.ts";
import type { EngineEmbeddings } from "#src/fleet/engines/interface.ts";
import { leastInput } from "#src/fleet/engines/shared/answer/lower-bound.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import type { Labels } from "#src/money/labels/labels.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold, Ledger } from "#src/money/model/ledger.ts";
import { readCaller } from "#src/wire/interceptors/access/principal.ts";
import { runIdKey, serverKey } from "#src/wire/interceptors/observation/observe.ts";
import { nameRequest } from "#src/wire/interceptors/request-id.ts";
import { readSurface } from "#src/wire/interceptors/surface.ts";
import { traceContextKey } from "#src/wire/interceptors/trace-context.ts";
import { turnWeightKey } from "../limits/rate-limit.ts";
import { tallied } from "../limits/token-tally.ts";
import type { EmbeddingsObserver } from "./interface.ts";
import { measureInputs } from "./measure-inputs.ts";

interface Dependencies {
  readonly catalogue: Catalogue;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly labels: Labels;
  readonly random: Random;
  readonly observer: EmbeddingsObserver;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Serves embedding models. Checks the model, every input's length and the balance, then asks an engine. */
export function createEmbeddingsService(deps: Dependencies): ServiceImpl<typeof EmbeddingsService> {
  return {
    embed: (request: EmbedRequest, context: HandlerContext) => embed(request, context, deps),
  };
}

async function embed(request: EmbedRequest, context: HandlerContext, deps: Dependencies) {
  const caller = readCaller(context);
  const receivedAt = deps.clock.monotonic();
  const requestId = nameRequest(request.requestId, deps.random, context.values);
  const model = deps.catalogue.ofKind(request.model, "embedding", caller.models);
  const inputTokens = await measureInputs(request.inputs, model, deps.fleet, context.signal);
  const { accountId, keyId, budget } = caller;
  const labels = deps.labels.settle(accountId, request.labels);
  const held = await deps.ledger.hold(
    { requestId, accountId, keyId, budget, model: model.id, inputTokens, outputTokens: 0, labels },
    context.signal,
  );
  const hold = tallied(held, context.values);
  context.values.set(runIdKey, hold.runId);
  const trace = context.values.get(traceContextKey);
  let server: string | undefined;
  let isSent = false;
  const wanted = {
    onSent() {
      isSent = true;
    },
    onServer(id: string) {
      server = id;
      context.values.set(serverKey, id);
    },
    requestId,
    runId: hold.runId,
    accountId: caller.accountId,
    serviceClass: highestClass(caller.serviceClass, caller.accountServiceClass),
    turnWeight: context.values.get(turnWeightKey),
    inputs: request.inputs,
    maxInputTokens: inputTokens,
    ...(trace && { trace }),
  };
  const mayHaveRead = () => (isSent && context.signal.aborted ? leastOf(request.inputs) : undefined);
  const embedded = await embedding(hold, deps.fleet.embed(model, wanted, context.signal), mayHaveRead);
  const settled = await hold.settle({ inputTokens: embedded.inputTokens, outputTokens: 0 }, "completed", {
    surface: readSurface(context.requestHeader),
    delivery: "gathered",
    durationMs: Math.round(deps.clock.monotonic() - receivedAt),
    ...(server !== undefined && { server }),
  });
  deps.observer.embedded(model.id, embedded.inputTokens);
  return {
    requestId,
    vectors: embedded.vectors.map(bytesOf),
    inputTokens: BigInt(embedded.inputTokens),
    costPicoUsd: BigInt(settled?.cost ?? 0),
  };
}

/** Waits for the vectors. A failure costs nothing. `mayHaveRead`: what a server may have read for a caller who left. */
async function embedding(
  hold: Hold,
  running: Promise<EngineEmbeddings>,
  mayHaveRead: () => ChargedTokens | undefined,
): Promise<EngineEmbeddings> {
  try {
    return await running;
  } catch (error) {
    hold.release(mayHaveRead());
    throw error;
  }
}

/** A lower bound on the tokens of inputs. */
function leastOf(inputs: readonly string[]): ChargedTokens {
  const inputTokens = inputs.reduce((sum, value) => sum + leastInput({ case: "text", value }), 0);
  return { inputTokens, outputTokens: 0 };
}

/** A vector's memory, without a copy: float32 is little-endian on every platform that Node runs on. */
const bytesOf = (vector: Float32Array<ArrayBufferLike>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(vector.buffer as ArrayBuffer, vector.byteOffset, vector.byteLength);
