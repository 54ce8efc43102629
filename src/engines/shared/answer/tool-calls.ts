import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { toolCallArgumentsEvent, toolCallStartedEvent } from "./events.ts";

/** A tool call, or a piece of one, as engines send it. Any part may be missing or null. */
export interface ToolCallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: {
    readonly name?: string | null;
    /** JSON text; some engines send the object itself. */
    readonly arguments?: string | object | null;
  } | null;
}

interface Call {
  readonly index: number;
  /** The engine's own id; undefined until it came. */
  engineId: string | undefined;
  name: string;
  arguments: string;
  started: boolean;
}

/**
 * Turns the pieces of tool calls into events and mends what engines get wrong: no index, one index or
 * one id for several calls, no id, an id that changes with every piece, a name that is repeated or comes
 * late, arguments as an object, none at all.
 */
export class ToolCalls {
  readonly #requestId: string;
  readonly #calls: Call[] = [];
  readonly #byEngineIndex = new Map<number, Call>();
  readonly #ids = new Set<string>();
  #current: Call | undefined;

  /** The request's id makes the ids of calls that the engine left nameless unique. */
  constructor(requestId: string) {
    this.#requestId = requestId;
  }

  /** Whether the model called anything. */
  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** Takes one piece and adds its events. */
  push(delta: ToolCallDelta, events: GenerationEvent[]): void {
    const call = this.#callOf(delta);
    if (call !== this.#current) {
      if (this.#current !== undefined) close(this.#current, events);
      this.#current = call;
    }
    call.engineId ??= delta.id || undefined;
    call.name ||= delta.function?.name ?? "";
    const fragment = textOf(delta.function?.arguments);
    call.arguments += fragment;
    if (call.started) {
      if (fragment !== "") events.push(toolCallArgumentsEvent(call.index, fragment));
    } else if (call.name !== "") {
      this.#start(call, events);
    }
  }

  /** The answer is over. */
  end(events: GenerationEvent[]): void {
    if (this.#current !== undefined) close(this.#current, events);
  }

  #callOf(delta: ToolCallDelta): Call {
    const index = delta.index ?? undefined;
    const known = index === undefined ? this.#current : this.#byEngineIndex.get(index);
    if (known !== undefined && !beginsAnother(known, delta)) return known;
    const call: Call = { index: this.#calls.length, engineId: undefined, name: "", arguments: "", started: false };
    this.#calls.push(call);
    if (index !== undefined) this.#byEngineIndex.set(index, call);
    return call;
  }

  #start(call: Call, events: GenerationEvent[]): void {
    const own = call.engineId;
    const id = own === undefined || this.#ids.has(own) ? `call_${this.#requestId}_${call.index}` : own;
    this.#ids.add(id);
    call.started = true;
    events.push(toolCallStartedEvent(call.index, id, call.name));
    if (call.arguments !== "") events.push(toolCallArgumentsEvent(call.index, call.arguments));
  }
}

/**
 * Whether a piece opens another call where its index (or the lack of one) points at a known call: it
 * brings another id and a name, and the known call's arguments are complete.
 */
function beginsAnother(known: Call, delta: ToolCallDelta): boolean {
  if (!delta.id || !delta.function?.name || known.engineId === undefined || delta.id === known.engineId) return false;
  if (!known.started) return true;
  try {
    JSON.parse(known.arguments);
    return true;
  } catch {
    return false;
  }
}

/** A call without arguments has an empty object of them. */
function close(call: Call, events: GenerationEvent[]): void {
  if (!call.started || call.arguments !== "") return;
  call.arguments = "{}";
  events.push(toolCallArgumentsEvent(call.index, "{}"));
}

function textOf(value: string | object | null | undefined): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
