import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { boundToMemory } from "#lib/overload/memory.ts";
import type { Overload } from "#lib/overload/monitor.ts";
import type { Config } from "#src/config/schema.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import { startBackground } from "#src/money/background.ts";
import { beginPace } from "#src/money/books/proof/shared-proof.ts";
import { createEmbeddingsService } from "#src/services/embeddings/embeddings-service.ts";
import type { Dependencies } from "#src/services/inference/answer/read-ahead.ts";
import { ReadAheadMemory } from "#src/services/inference/answer/read-ahead-memory.ts";
import { createInferenceService } from "#src/services/inference/inference-service.ts";
import { watchFirstTokens } from "#src/services/inference/watch-first-tokens.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import type { Availability } from "./availability.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";
import type { Money } from "./money/money.ts";

/** The metered services, and the periodic work on prices and books. */
export function composeServing(
  foundation: Foundation,
  money: Money,
  fleet: Fleet,
  overload: Overload,
  { days }: Pick<Availability, "days">,
): Part {
  const { config, catalogue, metrics, clock, random, logger, storage } = foundation;
  const { prices, ledger, labels, windows } = money;
  const stopBackground = startBackground({
    ...money,
    storage,
    clock,
    random,
    logger,
    pricing: config.pricing,
    models: () => catalogue.list(),
    utilisation: (model) => fleet.utilisation(model),
    beginPace: () => beginPace(clock),
  });
  metrics.watch({ clock, ledger, windows, prices, fleet });
  const dependencies = { catalogue, fleet, ledger, labels, random, observer: metrics.inference };
  const inference = createInferenceService({
    ...dependencies,
    observer: watchFirstTokens(metrics.inference, clock, (model, ms) => days.began(model, ms)),
    logger,
    cacheSalt: config.fleet.cache_salt,
    readers: { ...readReaderLimits(config, overload), clock },
  });
  return {
    services: [
      registration(InferenceService, inference),
      registration(EmbeddingsService, createEmbeddingsService({ ...dependencies, clock })),
    ],
    stop: async () => stopBackground(),
  };
}

function readReaderLimits({ readers }: Config, overload: Overload): Pick<Dependencies, "memory" | "limits"> {
  return {
    memory: new ReadAheadMemory(boundToMemory(readers.memory_mib * 1024 * 1024, "heap"), overload),
    limits: {
      answerBytes: readers.buffer_kib * 1024,
      minBytesPerSecond: readers.min_bytes_per_s,
      patienceMs: readers.patience_s * 1000,
    },
  };
}
