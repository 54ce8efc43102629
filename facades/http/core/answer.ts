import { Code, ConnectError } from "@connectrpc/connect";
import type { FinishReason, GenerationEvent, Usage } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { GenerateResponse } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";

/** A complete answer. */
export interface Answer {
  /** The thinking. Empty: none. */
  readonly reasoning: string;
  readonly text: string;
  /** The calls, in the order of their index. */
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The service class in which it ran. */
  readonly serviceClass: ServiceClass;
}

/** Gathers an answer that is not streamed. */
export async function collectAnswer(stream: AsyncIterable<GenerateResponse>): Promise<Answer> {
  const [answer] = await collectAnswers(stream, 1);
  return answer as Answer;
}

/** Gathers the answers of a batch, in the order of its texts. */
export async function collectAnswers(stream: AsyncIterable<GenerateResponse>, count: number): Promise<Answer[]> {
  const gathered = Array.from({ length: count }, () => new Gathered());
  for await (const { events, choice } of stream) {
    for (const { event } of events) {
      gathered[choice]?.add(event);
    }
  }
  return gathered.map((one) => one.end());
}

/** One answer as far as it has arrived. */
class Gathered {
  #reasoning = "";
  #text = "";
  readonly #toolCalls: { id: string; name: string; arguments: string }[] = [];
  #serviceClass = ServiceClass.UNSPECIFIED;
  #end: Pick<Answer, "finishReason" | "usage"> | undefined;

  add(event: GenerationEvent["event"]): void {
    switch (event.case) {
      case "started":
        this.#serviceClass = event.value.serviceClass;
        break;
      case "reasoning":
        this.#reasoning += event.value;
        break;
      case "text":
        this.#text += event.value;
        break;
      case "toolCallStarted":
        this.#toolCalls[event.value.index] = { id: event.value.id, name: event.value.name, arguments: "" };
        break;
      case "toolCallArguments": {
        const call = this.#toolCalls[event.value.index];
        if (call !== undefined) {
          call.arguments += event.value.fragment;
        }
        break;
      }
      case "finished":
        if (event.value.usage !== undefined) {
          this.#end = { finishReason: event.value.reason, usage: event.value.usage };
        }
        break;
    }
  }

  end(): Answer {
    if (this.#end === undefined) {
      throw new ConnectError("the answer broke off", Code.Internal);
    }
    return {
      reasoning: this.#reasoning,
      text: this.#text,
      toolCalls: this.#toolCalls,
      serviceClass: this.#serviceClass,
      ...this.#end,
    };
  }
}
