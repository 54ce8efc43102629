import type { Finished, GenerationEvent, Started } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { Delta, StreamEvent } from "#gen/tollgate/messages/v1/stream_event_pb.js";
import { textTemplate } from "../../http/json/text-template.ts";
import type { EventEncoder } from "../../http/response/sse.ts";
import { classify } from "../errors.ts";
import { toUsedTier } from "../service-tier.ts";
import { type Block, type CallBlock, emptyBlock, toDelta } from "./block.ts";
import { messageId, thinkingSignature } from "./identity.ts";
import { JsonExtent } from "./json-extent.ts";
import { eventText } from "./stream-event.ts";
import { inputUsage, toStopReason, toUsage } from "./usage.ts";

/**
 * Encodes the events of one answer as this surface's stream. Blocks on this surface come strictly one after another,
 * while tool calls may arrive interleaved. What cannot be sent yet waits in a queue of blocks, of which only the first
 * is open.
 */
export class StreamEncoder implements EventEncoder {
  readonly keepAlive = eventText({ case: "ping", value: { $typeName: "tollgate.messages.v1.Ping" } });
  readonly #model: string;
  readonly #requestId: string;
  readonly #tellsTier: boolean;
  readonly #blocks: Block[] = [];
  readonly #calls = new Map<number, CallBlock>();
  #index = 0;
  /** Writes the pieces of the open block. */
  #piece = (_: string): string => "";
  #out = "";

  /** `tellsTier`: whether the start contains the tier in which the request runs. */
  constructor(model: string, requestId: string, tellsTier = false) {
    this.#tellsTier = tellsTier;
    this.#model = model;
    this.#requestId = requestId;
  }

  encode(events: readonly GenerationEvent[]): string {
    this.#out = "";
    for (const { event } of events) {
      switch (event.case) {
        case "started":
          this.#start(event.value);
          break;
        case "reasoning":
          this.#append("thinking", event.value);
          break;
        case "text":
          this.#append("text", event.value);
          break;
        case "toolCallStarted": {
          const { index, id, name } = event.value;
          const block: CallBlock = { kind: "tool_use", id, name, waiting: [], extent: new JsonExtent(), empty: true };
          this.#calls.set(index, block);
          this.#enqueue(block);
          break;
        }
        case "toolCallArguments":
          this.#appendArguments(event.value.index, event.value.fragment);
          break;
        case "finished":
          this.#finish(event.value);
          break;
        case undefined: // an event of a newer core
      }
    }
    return this.#out;
  }

  fail(error: unknown): string {
    return eventText({
      case: "error",
      value: {
        $typeName: "tollgate.messages.v1.StreamError",
        error: classify(error).error,
        requestId: this.#requestId,
      },
    });
  }

  #start(started: Started): void {
    this.#emit({
      case: "messageStart",
      value: {
        $typeName: "tollgate.messages.v1.MessageStart",
        message: {
          $typeName: "tollgate.messages.v1.Message",
          id: messageId(this.#requestId),
          type: "message",
          role: "assistant",
          model: this.#model,
          content: [],
          usage: {
            ...inputUsage(started.inputTokens),
            ...(this.#tellsTier && { serviceTier: toUsedTier(started.serviceClass) }),
          },
        },
      },
    });
  }

  #append(kind: "thinking" | "text", piece: string): void {
    if (piece === "") {
      return; // an empty piece must not begin a block
    }
    let block = this.#blocks.at(-1);
    if (block?.kind !== kind) {
      block = { kind, waiting: [] };
      this.#enqueue(block);
    }
    if (block === this.#blocks[0]) {
      this.#delta(block, piece);
    } else {
      block.waiting.push(piece);
    }
  }

  #appendArguments(index: number, fragment: string): void {
    const block = this.#calls.get(index);
    if (block === undefined || fragment === "" || block.extent.complete) {
      return;
    }
    block.extent.push(fragment);
    if (block === this.#blocks[0]) {
      this.#delta(block, fragment);
      this.#advance();
    } else {
      block.waiting.push(fragment);
    }
  }

  #enqueue(block: Block): void {
    this.#blocks.push(block);
    if (this.#blocks.length === 1) {
      this.#open(block);
    } else {
      this.#advance();
    }
  }

  /** While the open block is complete, closes it and opens the next one. */
  #advance(): void {
    for (let open = this.#blocks[0]; open !== undefined && this.#isWhole(open); open = this.#blocks[0]) {
      this.#next();
    }
  }

  #isWhole(open: Block): boolean {
    return open.kind === "tool_use" ? open.extent.complete : this.#blocks.length > 1;
  }

  #next(): void {
    const open = this.#blocks.shift();
    if (open !== undefined) {
      this.#close(open);
    }
    const next = this.#blocks[0];
    if (next !== undefined) {
      this.#open(next);
    }
  }

  #finish({ reason, usage: counted }: Finished): void {
    while (this.#blocks.length > 0) {
      this.#next();
    }
    this.#emit({
      case: "messageDelta",
      value: {
        $typeName: "tollgate.messages.v1.MessageDelta",
        delta: { $typeName: "tollgate.messages.v1.MessageChange", stopReason: toStopReason(reason) },
        usage: toUsage(counted),
      },
    });
    this.#emit({ case: "messageStop", value: { $typeName: "tollgate.messages.v1.MessageStop" } });
  }

  #open(block: Block): void {
    this.#emit({
      case: "contentBlockStart",
      value: {
        $typeName: "tollgate.messages.v1.ContentBlockStart",
        index: this.#index,
        contentBlock: emptyBlock(block),
      },
    });
    this.#piece = textTemplate((piece) => eventText(this.#deltaEvent(toDelta(block.kind, piece))));
    for (const piece of block.waiting) {
      this.#delta(block, piece);
    }
  }

  #close(block: Block): void {
    if (block.kind === "thinking") {
      const value = { $typeName: "tollgate.messages.v1.SignatureDelta", signature: thinkingSignature } as const;
      this.#emit(this.#deltaEvent({ case: "signatureDelta", value }));
    }
    if (block.kind === "tool_use" && block.empty) {
      this.#delta(block, "{}"); // no arguments become an empty object
    }
    this.#emit({
      case: "contentBlockStop",
      value: { $typeName: "tollgate.messages.v1.ContentBlockStop", index: this.#index },
    });
    this.#index++;
  }

  #delta(block: Block, piece: string): void {
    if (block.kind === "tool_use") {
      block.empty = false;
    }
    this.#out += this.#piece(piece);
  }

  #deltaEvent(delta: Delta["delta"]): StreamEvent["event"] {
    return {
      case: "contentBlockDelta",
      value: {
        $typeName: "tollgate.messages.v1.ContentBlockDelta",
        index: this.#index,
        delta: { $typeName: "tollgate.messages.v1.Delta", delta },
      },
    };
  }

  #emit(event: StreamEvent["event"]): void {
    this.#out += eventText(event);
  }
}
