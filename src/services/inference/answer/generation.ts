import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason, type GenerationEvent, type Usage } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { GenerateResponse } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { toWiredClass } from "#lib/limits/service-class.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { EngineUsage } from "#src/fleet/engines/interface.ts";
import { leastInput } from "#src/fleet/engines/shared/answer/lower-bound.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import type { Settled } from "#src/money/model/charges/settlement.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Dependencies } from "../dependencies.ts";
import type { GenerationObserver } from "../interface.ts";
import { contextRefusal } from "../output-fit/context-refusal.ts";
import { fittedGeneration } from "../output-fit/fitted-generation.ts";
import type { PlannedGeneration } from "../request/plan.ts";
import { GatheredAnswer } from "./gathered-answer.ts";
import { RunNotes, type RunStart } from "./run-facts.ts";

/**
 * Runs a planned generation and settles it exactly once, however it ends: finished, failed, cut at the money's limit,
 * or left by the caller, which ends this generator early. The engine's last count is charged; nothing is charged when
 * the engine never began. Yields one message for each read of the engine, or a single one for a gathered answer.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the order of count, hold and message is what is to be read here.
export async function* generation(
  planned: PlannedGeneration,
  start: RunStart,
  deps: GenerationDependencies,
  signal: AbortSignal,
): AsyncGenerator<GenerateResponse> {
  const { model, request, hold, estimatedInput, countInput } = planned;
  let usage: EngineUsage | undefined;
  let finish: FinishReason | undefined;
  let started = false;
  let open = true;
  const gathered = request.gathered ? new GatheredAnswer() : undefined;
  const notes = new RunNotes(start, gathered === undefined, () => deps.clock.monotonic());
  let isSent = false;
  const noted = {
    ...request,
    onSent() {
      isSent = true;
    },
    onServer: (server: string) => notes.asked(server),
  };
  try {
    for await (const output of fittedGeneration({ fleet: deps.fleet, model, countInput }, noted, signal)) {
      if (output.usage !== undefined) {
        usage = output.usage;
        hold.progress(usage);
      }
      finish = output.finish;
      let { events } = output;
      if (!started) {
        started = true;
        notes.began();
        deps.observer.began(model.id);
        const inputTokens = usage === undefined || usage.isLowerBound ? estimatedInput : usage.inputTokens;
        events = [startedEvent(request, inputTokens), ...events];
      }
      if (gathered !== undefined) {
        gathered.add(events);
      } else if (events.length > 0) {
        yield response(events as GenerationEvent[]);
      }
      if (isBeyond(usage, hold.outputTokens)) {
        finish = FinishReason.LENGTH; // the engine ignored its limit
        break;
      }
    }
    const [counted, reason] = requireEnd(usage, finish);
    open = false;
    deps.observer.ended(model.id, counted);
    const settled = await hold.settle(counted, "completed", notes.end(counted, reason));
    yield response([...(gathered?.end() ?? []), finishedEvent(reason, counted, settled)]);
  } catch (error) {
    if (open && started && !signal.aborted) {
      open = false;
      await settleEarly(planned, deps, { status: "failed", usage, started, notes });
    }
    throw contextRefusal(error, model, request.prompt);
  } finally {
    if (open) {
      const read = isSent && signal.aborted ? { inputTokens: leastInput(request.prompt), outputTokens: 0 } : undefined;
      const isCutOff = readDetail(signal.reason)?.reason === Reason.SHUTTING_DOWN;
      const status = isCutOff ? "failed" : "cancelled";
      await settleEarly(planned, deps, { status, usage, started, notes, read });
    }
  }
}

type GenerationDependencies = Pick<Dependencies, "fleet" | "logger"> & {
  readonly observer: GenerationObserver;
  readonly clock: Pick<Clock, "monotonic">;
};

/** How a generation ended before its answer did. */
interface EarlyEnd {
  readonly status: "failed" | "cancelled";
  readonly usage: EngineUsage | undefined;
  readonly started: boolean;
  readonly notes: RunNotes;
  /** What an engine may have read for a caller who left. */
  readonly read?: ChargedTokens | undefined;
}

/** Charges the tokens that were counted before an early end. */
async function settleEarly(
  { model, request, hold }: PlannedGeneration,
  { observer, logger }: GenerationDependencies,
  early: EarlyEnd,
): Promise<void> {
  if (early.usage !== undefined) {
    observer.ended(model.id, early.usage);
    await hold.settle(early.usage, early.status, early.notes.end(early.usage));
    return;
  }
  if (early.started) {
    observer.unbilled(model.id);
    logger.error({ requestId: request.requestId, model: model.id }, "unbilled usage: the engine gave no count");
  }
  hold.release(early.read);
}

/** Throws when the engine ended an answer without its count or its finish reason. */
function requireEnd(usage: EngineUsage | undefined, finish: FinishReason | undefined): [EngineUsage, FinishReason] {
  if (usage === undefined || finish === undefined) {
    throw failure(Reason.ENGINE_FAILED, "The inference server ended the answer without its token count.");
  }
  return [usage, finish];
}

/** Whether the engine has certainly produced more than allowed. */
function isBeyond(usage: EngineUsage | undefined, outputTokens: number): boolean {
  return usage !== undefined && !usage.isLowerBound && usage.outputTokens > outputTokens;
}

const response = (events: GenerationEvent[]): GenerateResponse => ({
  $typeName: "tollgate.inference.v1.GenerateResponse",
  events,
  choice: 0,
});

function startedEvent({ requestId, serviceClass = "standard" }: FleetRequest, inputTokens: number): GenerationEvent {
  const value = {
    $typeName: "tollgate.inference.v1.Started",
    requestId,
    inputTokens: BigInt(inputTokens),
    serviceClass: toWiredClass(serviceClass),
  } as const;
  return { $typeName: "tollgate.inference.v1.GenerationEvent", event: { case: "started", value } };
}

function finishedEvent(reason: FinishReason, counted: EngineUsage, settled: Settled | undefined): GenerationEvent {
  const usage: Usage = {
    $typeName: "tollgate.inference.v1.Usage",
    inputTokens: BigInt(counted.inputTokens),
    outputTokens: BigInt(counted.outputTokens),
    lots: (settled?.lots ?? []).map(({ lotId, cost }) => ({
      $typeName: "tollgate.inference.v1.LotCost",
      lotId,
      costPicoUsd: BigInt(cost),
    })),
  };
  if (settled !== undefined) {
    usage.costPicoUsd = BigInt(settled.cost);
  }
  if (counted.reasoningTokens !== undefined) {
    usage.reasoningTokens = BigInt(counted.reasoningTokens);
  }
  if (counted.cachedInputTokens !== undefined) {
    usage.cachedInputTokens = BigInt(counted.cachedInputTokens);
  }
  const value = { $typeName: "tollgate.inference.v1.Finished", reason, usage } as const;
  return { $typeName: "tollgate.inference.v1.GenerationEvent", event: { case: "finished", value } };
}
