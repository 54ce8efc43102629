import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";

type Event = GenerationEvent["event"];

/** The size of an event without its text, in bytes. */
const eventBytes = 200;

/**
 * V8 keeps some 60 bytes beside each appended piece, so pieces are joined as soon as they have this many characters.
 */
const leafLength = 1024;

/** Gathers the events of an answer that is sent in one message. Neighbouring pieces of one kind are joined. */
export class GatheredAnswer {
  readonly #events: GenerationEvent[] = [];
  /** The current text, which `#open` turns into an event. */
  #text = "";
  /** The last pieces of the text, not joined yet. */
  #leaf: string[] = [];
  #leafLength = 0;
  #bytes = 0;
  #open: { readonly kind: string; readonly close: (text: string) => Event } | undefined;

  /** The memory that the answer takes, estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  add(events: readonly GenerationEvent[]): void {
    for (const event of events) {
      this.#add(event);
    }
  }

  /** All events in order. Nothing may be added afterwards. */
  end(): GenerationEvent[] {
    this.#close();
    return this.#events;
  }

  #add(entry: GenerationEvent): void {
    const { event } = entry;
    switch (event.case) {
      case "reasoning":
        this.#append("reasoning", event.value, (value) => ({ case: "reasoning", value }));
        break;
      case "text":
        this.#append("text", event.value, (value) => ({ case: "text", value }));
        break;
      case "toolCallArguments": {
        const { index, fragment } = event.value;
        this.#append(`arguments ${index}`, fragment, (text) => ({
          case: "toolCallArguments",
          value: { $typeName: "tollgate.inference.v1.ToolCallArguments", index, fragment: text },
        }));
        break;
      }
      default:
        this.#close();
        this.#bytes += eventBytes;
        this.#events.push(entry);
    }
  }

  #append(kind: string, text: string, close: (text: string) => Event): void {
    if (this.#open?.kind !== kind) {
      this.#close();
      this.#open = { kind, close };
      this.#bytes += eventBytes;
    }
    this.#leaf.push(text);
    this.#leafLength += text.length;
    this.#bytes += text.length;
    if (this.#leafLength >= leafLength) {
      this.#join();
    }
  }

  #join(): void {
    this.#text += this.#leaf.join("");
    this.#leaf = [];
    this.#leafLength = 0;
  }

  #close(): void {
    if (this.#open !== undefined) {
      this.#join();
      this.#events.push({ $typeName: "tollgate.inference.v1.GenerationEvent", event: this.#open.close(this.#text) });
    }
    this.#open = undefined;
    this.#text = "";
  }
}
