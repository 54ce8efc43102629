import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { SurfaceName } from "#lib/inference/surface-names.ts";
import type { EngineUsage } from "#src/fleet/engines/interface.ts";
import type { RunFacts } from "#src/money/model/charges/settlement.ts";
import type { FinishName } from "#src/storage/entities/metering/usage.ts";

/** The facts that are known when a run begins. */
export interface RunStart {
  /** When the request arrived, by the monotonic clock. */
  readonly receivedAt: number;
  readonly surface: SurfaceName;
  /** Called with the id of each server that is asked. */
  readonly asked: (server: string) => void;
}

const finishNames: Readonly<Record<FinishReason, FinishName | undefined>> = {
  [FinishReason.UNSPECIFIED]: undefined,
  [FinishReason.STOP]: "stop",
  [FinishReason.LENGTH]: "length",
  [FinishReason.TOOL_CALLS]: "tool_calls",
  [FinishReason.CONTENT_FILTER]: "content_filter",
};

/** Gathers the facts of a generation for its receipt, except the cost. */
export class RunNotes {
  readonly #start: RunStart;
  readonly #now: () => number;
  readonly #isStreamed: boolean;
  #firstAt: number | undefined;
  #server: string | undefined;

  constructor(start: RunStart, isStreamed: boolean, now: () => number) {
    this.#start = start;
    this.#isStreamed = isStreamed;
    this.#now = now;
  }

  /** Sets the id of the server that was asked last. */
  asked(server: string): void {
    this.#server = server;
    this.#start.asked(server);
  }

  /** The first output has arrived. */
  began(): void {
    this.#firstAt = this.#now();
  }

  /** The facts at the end. Without a reason, the answer did not reach its own end. */
  end(usage: EngineUsage, reason?: FinishReason): RunFacts {
    const { receivedAt, surface } = this.#start;
    const finish = reason === undefined ? undefined : finishNames[reason];
    const { reasoningTokens, cachedInputTokens } = usage;
    return {
      surface,
      delivery: this.#isStreamed ? "streamed" : "gathered",
      durationMs: Math.round(this.#now() - receivedAt),
      ...(this.#firstAt !== undefined && { firstTokenMs: Math.round(this.#firstAt - receivedAt) }),
      ...(finish !== undefined && { finish }),
      ...(reasoningTokens !== undefined && { reasoningTokens }),
      ...(cachedInputTokens !== undefined && { cachedInputTokens }),
      ...(this.#server !== undefined && { server: this.#server }),
    };
  }
}
