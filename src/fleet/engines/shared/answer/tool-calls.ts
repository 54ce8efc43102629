import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { engineFailed } from "../faults.ts";
import { toolCallArgumentsEvent, toolCallStartedEvent } from "./events.ts";
import { JsonEnd } from "./json-end.ts";

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

/** The most calls of one answer, and the most characters of arguments that wait for their call's name. */
const mostCalls = 128;
const mostWaiting = 1024 * 1024;

interface Call {
  /** Its number among the calls that have started; calls without a name never do. -1 until it has started. */
  index: number;
  /** The engine's own id. Undefined until it came. */
  engineId: string | undefined;
  name: string;
  /** The arguments that came before the call's name. */
  waiting: string;
  readonly end: JsonEnd;
  /** Whether arguments were passed on. */
  hasArguments: boolean;
}

/**
 * Turns the pieces of tool calls into events and repairs what engines get wrong: no index, one index or one id for
 * several calls, no id, an id that changes with every piece, a name that is repeated or comes late, arguments as an
 * object, pieces of several calls in turns, or no arguments. A call starts once each one before it has arguments.
 */
export class ToolCalls {
  readonly #runId: string;
  #calls = 0;
  #started = 0;
  readonly #byEngineIndex = new Map<number, Call>();
  readonly #ids = new Set<string>();
  #current: Call | undefined;
  /** The named calls without arguments so far, in their order. Only the first one has started. */
  readonly #bare: Call[] = [];

  /** The run's id makes the ids unique of calls for which the engine gave none. */
  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Whether the model called a tool. */
  get any(): boolean {
    return this.#started > 0;
  }

  /** Takes one piece and adds its events. Throws ENGINE_FAILED beyond 128 calls. */
  push(delta: ToolCallDelta, events: GenerationEvent[]): void {
    const call = this.#toCall(delta);
    this.#current = call;
    call.engineId ??= delta.id || undefined;
    call.name ||= delta.function?.name ?? "";
    const fragment = toText(delta.function?.arguments);
    call.end.push(fragment);
    call.waiting += fragment;
    if (call.name === "") {
      if (call.waiting.length > mostWaiting) {
        throw engineFailed("a tool call has no name", true);
      }
    } else if (call.waiting !== "") {
      this.#passArguments(call, events);
    } else if (!call.hasArguments && !this.#bare.includes(call)) {
      this.#bare.push(call);
      this.#startFirst(events);
    }
  }

  /** The answer is over. */
  end(events: GenerationEvent[]): void {
    this.#endBareBefore(undefined, events);
  }

  #toCall(delta: ToolCallDelta): Call {
    const index = delta.index ?? undefined;
    const known = index === undefined ? this.#current : this.#byEngineIndex.get(index);
    if (known !== undefined && !beginsAnother(known, delta)) {
      return known;
    }
    if (this.#calls++ === mostCalls) {
      throw engineFailed(`more than ${mostCalls} tool calls in an answer`, false);
    }
    const call: Call = {
      index: -1,
      engineId: undefined,
      name: "",
      waiting: "",
      end: new JsonEnd(),
      hasArguments: false,
    };
    if (index !== undefined) {
      this.#byEngineIndex.set(index, call);
    }
    return call;
  }

  #passArguments(call: Call, events: GenerationEvent[]): void {
    if (!call.hasArguments) {
      call.hasArguments = true;
      this.#endBareBefore(call, events);
      if (call.index === -1) {
        this.#start(call, events);
      }
    }
    events.push(toolCallArgumentsEvent(call.index, call.waiting));
    call.waiting = "";
    if (this.#bare[0] === call) {
      this.#bare.shift();
      this.#startFirst(events);
    }
  }

  /** Gives the calls before this one an empty object, since their own arguments would have come by now. */
  #endBareBefore(call: Call | undefined, events: GenerationEvent[]): void {
    for (let [first] = this.#bare; first !== undefined && first !== call; [first] = this.#bare) {
      this.#bare.shift();
      first.hasArguments = true;
      first.end.push("{}");
      events.push(toolCallArgumentsEvent(first.index, "{}"));
      this.#startFirst(events);
    }
  }

  #startFirst(events: GenerationEvent[]): void {
    const [first] = this.#bare;
    if (first !== undefined && first.index === -1) {
      this.#start(first, events);
    }
  }

  #start(call: Call, events: GenerationEvent[]): void {
    call.index = this.#started++;
    const own = call.engineId;
    const id = own === undefined || this.#ids.has(own) ? `call_${this.#runId}_${call.index}` : own;
    this.#ids.add(id);
    events.push(toolCallStartedEvent(call.index, id, call.name));
  }
}

/**
 * Whether a piece opens another call although its index, or the lack of one, points at a known call: it brings another
 * name while the known call is not amid its arguments, or the same name with another id after them.
 */
function beginsAnother(known: Call, delta: ToolCallDelta): boolean {
  const name = delta.function?.name;
  if (!name) {
    return false;
  }
  if (known.name !== "" && name !== known.name) {
    return !known.hasArguments || known.end.reached;
  }
  const isOther = Boolean(delta.id) && known.engineId !== undefined && delta.id !== known.engineId;
  return isOther && (known.name === "" || known.end.reached);
}

function toText(value: string | object | null | undefined): string {
  if (value === null || value === undefined) {
    return "";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
