import type { HandlerContext } from "@connectrpc/connect";
import type { GenerateRequest } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { estimateTokens } from "#lib/text/estimate-tokens.ts";
import { promptBound } from "#lib/text/prompt-bound.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import { runIdKey } from "#src/wire/interceptors/observation/observe.ts";
import { traceContextKey } from "#src/wire/interceptors/trace-context.ts";
import type { Caller } from "#src/wire/principal.ts";
import { turnWeightKey } from "../../limits/rate-limit.ts";
import { tallied } from "../../limits/token-tally.ts";
import type { Dependencies } from "../dependencies.ts";
import { contextRefusal } from "../output-fit/context-refusal.ts";
import { limitOutput, type TokenLimits } from "../output-fit/output-limit.ts";
import { settleSampling } from "./sampling.ts";
import { settleServiceClass } from "./service-class.ts";
import { shareHold } from "./shared-hold.ts";
import { planThinking } from "./thinking.ts";
import { validateConversation } from "./validate.ts";

/** A request that is checked and has its money held: ready to run. */
export interface PlannedGeneration {
  readonly model: ServedModel;
  readonly request: FleetRequest;
  readonly hold: Hold;
  /** An estimate of the prompt's tokens, at most those that are held. */
  readonly estimatedInput: number;
  /** Counts the prompt. Set where prompt and output may still exceed the context. */
  readonly countInput?: () => Promise<number | undefined>;
}

/** A prompt and its length. */
interface MeasuredPrompt {
  readonly tokenizable: Pick<FleetRequest, "prompt" | "recipe" | "thinking">;
  readonly countInput: () => Promise<number | undefined>;
  readonly estimate: number;
  readonly limits: TokenLimits;
}

/** The generations of one request: one, or one for each text of a batch. */
export interface PlannedRequest {
  readonly generations: readonly PlannedGeneration[];
  /** Resolves once all of them have ended and their cost is charged. */
  settled(): Promise<void>;
}

/**
 * Checks a request, applies every default and limit, and holds its worst case. A batch becomes one generation for each
 * text, under one hold. Throws the ledger's errors.
 */
export async function plan(
  request: GenerateRequest,
  requestId: string,
  model: ServedModel,
  caller: Caller,
  deps: Dependencies,
  { signal, values }: Pick<HandlerContext, "signal" | "values">,
): Promise<PlannedRequest> {
  if (request.prompt.case === "conversation") {
    validateConversation(request.prompt.value);
  }
  const thinking = planThinking(request.thinking, model.thinking);
  const measure = (prompt: FleetRequest["prompt"]): MeasuredPrompt | Promise<MeasuredPrompt> => {
    const tokenizable = { prompt, recipe: model.thinking, ...(thinking === undefined ? {} : { thinking }) };
    const countInput = once(() => deps.fleet.countTokens(model, tokenizable, signal));
    const bound = Math.min(model.context_length, promptBound(prompt, deps.fleet.templateTokens(model)));
    const estimate = estimateTokens(prompt);
    const length = { bound, estimate, count: countInput };
    const limits = limitOutput(model, request.maxOutputTokens, length);
    if (!(limits instanceof Promise)) {
      return { tokenizable, countInput, estimate, limits };
    }
    return limits.then(
      (found) => ({ tokenizable, countInput, estimate, limits: found }),
      (error: unknown): never => {
        throw contextRefusal(error, model, prompt);
      },
    );
  };
  const measuring = readPrompts(request).map(measure);
  const measured = measuring.some((one) => one instanceof Promise)
    ? await Promise.all(measuring)
    : (measuring as MeasuredPrompt[]);
  const sampling = settleSampling(request.sampling, model.sampling);
  const held = await deps.ledger.hold(
    {
      requestId,
      accountId: caller.accountId,
      keyId: caller.keyId,
      budget: caller.budget,
      model: model.id,
      inputTokens: sum(measured, ({ limits }) => limits.input),
      outputTokens: sum(measured, ({ limits }) => limits.output),
      answers: measured.length,
      labels: deps.labels.settle(caller.accountId, request.labels),
      countInput: async () => sumOfKnown(await Promise.all(measured.map(({ countInput }) => countInput()))),
    },
    signal,
  );
  const hold = tallied(held, values);
  values.set(runIdKey, hold.runId);
  const trace = values.get(traceContextKey);
  const { holds, settled } =
    measured.length === 1
      ? { holds: [hold], settled: async () => {} }
      : shareHold(hold, await readWanted(hold, measured));
  const serviceClass = settleServiceClass(request.serviceClass, caller);
  const generations = measured.map(({ tokenizable, countInput, estimate, limits }, index) => {
    const part = holds[index] ?? hold;
    return {
      model,
      hold: part,
      estimatedInput: Math.min(estimate, part.inputTokens),
      ...(limits.mayPass && { countInput }),
      request: {
        ...tokenizable,
        requestId,
        runId: part.runId,
        accountId: caller.accountId,
        serviceClass,
        turnWeight: values.get(turnWeightKey),
        maxInputTokens: part.inputTokens,
        maxOutputTokens: part.outputTokens,
        sampling,
        stopSequences: request.stopSequences,
        gathered: request.gathered,
        ...(trace && { trace }),
        ...(request.session && { session: request.session }),
        ...(deps.cacheSalt ? { cacheSalt: caller.accountId } : {}),
      },
    };
  });
  return { generations, settled };
}

function readPrompts({ prompt }: GenerateRequest): FleetRequest["prompt"][] {
  if (prompt.case === undefined) {
    throw new Error("a request without a prompt passed the validation");
  }
  return prompt.case === "texts" ? prompt.value.texts.map((value) => ({ case: "text", value })) : [prompt];
}

/** The tokens of each prompt: as they were held, or as they were counted when the money did not cover the bounds. */
function readWanted(hold: Hold, measured: readonly MeasuredPrompt[]): Promise<ChargedTokens[]> {
  const isCounted = hold.inputTokens < sum(measured, ({ limits }) => limits.input);
  return Promise.all(
    measured.map(async ({ limits, countInput }) => ({
      inputTokens: isCounted ? Math.min(limits.input, (await countInput()) ?? limits.input) : limits.input,
      outputTokens: limits.output,
    })),
  );
}

function sum<T>(values: readonly T[], read: (value: T) => number): number {
  return values.reduce((total, value) => total + read(value), 0);
}

/** The sum. Undefined when any count is. */
function sumOfKnown(counts: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const count of counts) {
    if (count === undefined) {
      return undefined;
    }
    total += count;
  }
  return total;
}

/** Calls `ask` at most once, and returns its result each time. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}
