import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { EmbeddingsService, EmbedRequest } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import type { Random } from "../../lib/ids/random.ts";
import type { Catalogue } from "../catalogue/interface.ts";
import type { EngineEmbeddings } from "../engines/interface.ts";
import type { Fleet } from "../fleet/interface.ts";
import { runIdKey } from "../interceptors/observe.ts";
import { callerOf } from "../interceptors/principal.ts";
import { nameRequest } from "../interceptors/request-id.ts";
import { traceContextKey } from "../interceptors/trace-context.ts";
import type { Hold, Ledger } from "../metering/interface.ts";
import type { EmbeddingsObserver } from "./interface.ts";
import { measureInputs } from "./measure-inputs.ts";
import { validate } from "./validate.ts";

/** What the service stands on. */
export interface EmbeddingsDependencies {
  readonly catalogue: Catalogue;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly observer: EmbeddingsObserver;
}

/** Runs embedding models: model, length of every input, balance, engine, in this order. */
export function createEmbeddingsService(deps: EmbeddingsDependencies): ServiceImpl<typeof EmbeddingsService> {
  return {
    embed: (request: EmbedRequest, context: HandlerContext) => embed(request, context, deps),
  };
}

async function embed(request: EmbedRequest, context: HandlerContext, deps: EmbeddingsDependencies) {
  const caller = callerOf(context);
  const requestId = nameRequest(request.requestId, deps.random, context.values);
  validate(request);
  const model = deps.catalogue.ofKind(request.model, "embedding", caller.models);
  const inputTokens = await measureInputs(request.inputs, model, deps.fleet, context.signal);
  const hold = await deps.ledger.hold(
    { requestId, accountId: caller.accountId, keyId: caller.keyId, model: model.id, inputTokens, outputTokens: 0 },
    context.signal,
  );
  context.values.set(runIdKey, hold.runId);
  const trace = context.values.get(traceContextKey);
  const wanted = {
    requestId,
    runId: hold.runId,
    accountId: caller.accountId,
    inputs: request.inputs,
    ...(trace && { trace }),
  };
  const embedded = await settled(hold, deps.fleet.embed(model, wanted, context.signal));
  deps.observer.embedded(model.id, embedded.inputTokens);
  return { requestId, vectors: embedded.vectors.map(bytesOf), inputTokens: BigInt(embedded.inputTokens) };
}

/** Charges what was counted before the vectors are handed out; a failure costs nothing. */
async function settled(hold: Hold, embedding: Promise<EngineEmbeddings>): Promise<EngineEmbeddings> {
  let embedded: EngineEmbeddings;
  try {
    embedded = await embedding;
  } catch (error) {
    hold.release();
    throw error;
  }
  await hold.settle({ inputTokens: embedded.inputTokens, outputTokens: 0 }, "completed");
  return embedded;
}

/** A vector's memory as it is: float32 is little-endian on every platform that Node runs on. */
const bytesOf = (vector: Float32Array<ArrayBufferLike>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(vector.buffer as ArrayBuffer, vector.byteOffset, vector.byteLength);
