import { FinishReason, type GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { EngineOutput, EngineRequest, EngineUsage } from "../../interface.ts";
import { engineFailed } from "../faults.ts";
import { reasoningEvent, textEvent } from "./events.ts";
import { finishReason } from "./finish-reason.ts";
import { LowerBound } from "./lower-bound.ts";
import { type EchoTraits, echoFor, type PrefillEcho } from "./prefill-echo.ts";
import { splitterFor } from "./splitter-for.ts";
import { StopSequences } from "./stop-sequences.ts";
import type { ThinkSplitter } from "./think-splitter.ts";
import { type ToolCallDelta, ToolCalls } from "./tool-calls.ts";

/** Facts of an engine, from its kind and its earlier answers. */
export interface EngineTraits {
  /** Names the server, for the log. */
  readonly where: string;
  /** Whether it was seen to send reasoning apart from the text. Set when an answer shows it. */
  sendsReasoning: boolean;
  /** Set on engines of which some builds repeat what the caller has begun. */
  readonly echo?: EchoTraits;
  /** Set on engines that may write on beyond a stop sequence. */
  readonly mayIgnoreStops?: true;
}

/** Puts the parts of an answer, as an engine's protocol brings them, together to outputs. One a request. */
export class AnswerBuilder {
  complete = false;
  /** Whether the engine writes on beyond a stop sequence, before which the answer has ended: it is to be stopped. */
  isCut = false;
  readonly #traits: EngineTraits;
  readonly #splitter: ThinkSplitter | undefined;
  readonly #toolCalls: ToolCalls;
  readonly #bound: LowerBound;
  #echo: PrefillEcho | undefined;
  readonly #stopSequences: readonly string[];
  #stops: StopSequences | undefined;
  /** Events among the next ones in which stop sequences were looked for. */
  #looked = 0;
  /** Whether a stop sequence came. An engine that heeds it ends now, and its count is still to come. */
  #stopped = false;
  #events: GenerationEvent[] = [];
  #usage: EngineUsage | undefined;
  #finish: FinishReason | undefined;
  #implausible: string | undefined;
  #reasoned = false;
  /** Whether white space that comes now only parts the answer from the thinking: some engines' parsers leave it there. */
  #trimming = false;
  #answered = false;
  /** Whether the count is that of the whole answer. */
  #counted = false;
  /** Whether something came since the last output. */
  #fresh = false;

  constructor(request: EngineRequest, traits: EngineTraits) {
    this.#traits = traits;
    this.#splitter = splitterFor(request, traits.sendsReasoning);
    this.#toolCalls = new ToolCalls(request.runId);
    this.#echo = traits.echo && echoFor(request, traits.echo);
    this.#stopSequences = traits.mayIgnoreStops ? request.stopSequences : [];
    this.#stops = this.#stopSequences.length > 0 ? new StopSequences(this.#stopSequences) : undefined;
    this.#bound = new LowerBound(request.prompt);
  }

  /** The latest true count. */
  get usage(): EngineUsage | undefined {
    return this.#usage;
  }

  /** Something came, though it may be nothing to show: the engine works. */
  touch(): void {
    this.#fresh = true;
  }

  addReasoning(reasoning: string): void {
    if (this.#stopped) {
      this.#breakOff();
      return;
    }
    if (!this.#reasoned) {
      this.#reasoned = true;
      this.#traits.sendsReasoning = true;
      this.#trimming = true;
      this.#splitter?.startAnswer();
    }
    this.#events.push(reasoningEvent(reasoning));
    this.#bound.add();
  }

  addText(told: string): void {
    if (this.#stopped) {
      this.#breakOff();
      return;
    }
    const whole = this.#echo === undefined ? told : this.#withoutEcho(this.#echo, told);
    const text = this.#trimming ? whole.trimStart() : whole;
    if (text === "") {
      return;
    }
    this.#trimming = false;
    if (this.#splitter === undefined || this.#reasoned) {
      this.#events.push(textEvent(text));
    } else {
      this.#splitter.push(text, this.#events);
    }
    this.#bound.add();
    this.#cut();
  }

  /** Ends the answer before the first stop sequence in its text. */
  #cut(): void {
    const stops = this.#stops;
    if (stops === undefined) {
      return;
    }
    for (const one of this.#events.splice(this.#looked)) {
      const { event } = one;
      const shown = event.case === "text" ? stops.push(event.value) : undefined;
      if (shown !== "") {
        this.#events.push(shown === undefined ? one : textEvent(shown));
      }
      if (stops.stopped) {
        this.#finish = FinishReason.STOP;
        this.#stopped = true;
        break;
      }
    }
    this.#looked = this.#events.length;
  }

  /** The engine writes on beyond a stop sequence: what it counted, or sent, until that is all that is billed. */
  #breakOff(): void {
    this.isCut = true;
    this.complete = true;
  }

  /** No text follows at once: what might have been the beginning of a stop sequence is none. */
  #showHeld(): void {
    this.#cut();
    const held = this.#stopped ? "" : this.#stops?.end();
    if (held) {
      this.#events.push(textEvent(held));
      this.#stops = new StopSequences(this.#stopSequences);
    }
    this.#looked = this.#events.length;
  }

  #withoutEcho(echo: PrefillEcho, first: string): string {
    this.#echo = undefined;
    return echo.strip(first);
  }

  addCall(call: ToolCallDelta): void {
    this.#splitter?.end(this.#events);
    this.#showHeld();
    if (this.#stopped) {
      this.#breakOff();
      return;
    }
    this.#toolCalls.push(call, this.#events);
    this.#bound.add();
  }

  /** The engine says why it ended. Throws when that is no end of an answer. */
  addFinish(reason: string): void {
    this.#splitter?.end(this.#events);
    this.#showHeld();
    if (this.#stopped) {
      return; // the sequence has ended it, whatever else the engine ran into
    }
    this.#toolCalls.end(this.#events);
    this.#finish = finishReason(reason, this.#toolCalls.any);
    if (this.#finish === undefined) {
      throw engineFailed(`${this.#traits.where} broke off: finish reason ${reason}`, true);
    }
  }

  /** A count. The one that comes with the finish or after it is that of the whole answer. */
  addUsage(usage: EngineUsage): void {
    this.#usage = usage;
    const answered = this.#answered || this.#events.length > 0;
    if (this.#finish !== undefined) {
      this.#counted = usage.outputTokens > 0 || !answered;
    }
  }

  /** Something was told as a count that is none. */
  addNoCount(): void {
    this.#implausible = "told a count that is no whole number";
  }

  /** No more comes. Throws unless the answer has its end and its count; one that a stop sequence ended has its bound. */
  conclude(): void {
    const { where } = this.#traits;
    if (this.#finish === undefined) {
      throw engineFailed(`${where} ended the stream without a finish reason`, true);
    }
    if (!this.#counted && !this.#stopped) {
      throw engineFailed(`${where} did not count the tokens`, false);
    }
    this.complete = true;
    this.#fresh = true;
  }

  /** The answer is whole, and the engine counts it no more: its lower bound is all that there will be. */
  concludeUncounted(reason: string): void {
    this.addFinish(reason);
    this.complete = true;
    this.#fresh = true;
  }

  /** The events since the last output. Undefined: none. */
  take(): EngineOutput | undefined {
    if (!this.#fresh) {
      return undefined;
    }
    this.#fresh = false;
    const events = this.#events;
    this.#events = [];
    this.#looked = 0;
    this.#answered ||= events.length > 0;
    const usage = this.#usage ?? (this.#bound.any || this.complete ? this.#bound.usage : undefined);
    const implausible = this.#implausible;
    return {
      events,
      ...(implausible !== undefined && { implausible }),
      ...(usage !== undefined && { usage }),
      ...(this.complete && this.#finish !== undefined && { finish: this.#finish }),
    };
  }
}
