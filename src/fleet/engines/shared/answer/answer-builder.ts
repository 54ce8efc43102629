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

/** Facts about an engine, known from its kind or learned from its answers. */
export interface EngineTraits {
  /** Names the server, for the log. */
  readonly where: string;
  /** Whether the engine sends reasoning in a separate field. Set when an answer shows it. */
  sendsReasoning: boolean;
  /** Set on engines of which some builds repeat the text that the caller has begun. */
  readonly echo?: EchoTraits;
  /** Set on engines that may write on beyond a stop sequence. */
  readonly mayIgnoreStops?: true;
}

/** Builds outputs from the parts of an answer, whatever the engine's protocol. One for each request. */
export class AnswerBuilder {
  complete = false;
  /** Whether the answer ended before a stop sequence while the engine writes on: the engine has to be stopped. */
  isCut = false;
  readonly #traits: EngineTraits;
  readonly #splitter: ThinkSplitter | undefined;
  readonly #toolCalls: ToolCalls;
  readonly #bound: LowerBound;
  #echo: PrefillEcho | undefined;
  readonly #stopSequences: readonly string[];
  #stops: StopSequences | undefined;
  /** The number of collected events that were searched for stop sequences. */
  #looked = 0;
  /** Whether a stop sequence came. An engine that obeys it ends now, and its count is still to come. */
  #stopped = false;
  #events: GenerationEvent[] = [];
  #usage: EngineUsage | undefined;
  #finish: FinishReason | undefined;
  #implausible: string | undefined;
  #reasoned = false;
  /** Whether thinking that can be seen came since the last text. */
  #thinking = false;
  /** Whether white space that comes now only separates answer and thinking: some engines' parsers leave it there. */
  #trimming = false;
  #answered = false;
  /** Whether the count is that of the complete answer. */
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

  /** The engine's latest own count. */
  get usage(): EngineUsage | undefined {
    return this.#usage;
  }

  /** The engine has sent something, perhaps nothing to show: it is working. */
  touch(): void {
    this.#fresh = true;
  }

  /** Takes thinking. It begins with what can be seen: some templates write an empty block where none is wanted. */
  addReasoning(told: string): void {
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
    const reasoning = this.#thinking ? told : told.trimStart();
    if (reasoning !== "") {
      this.#thinking = true;
      this.#events.push(reasoningEvent(reasoning));
    }
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
    this.#thinking = false;
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

  /** The engine writes on beyond a stop sequence: only what it counted or sent so far is billed. */
  #breakOff(): void {
    this.isCut = true;
    this.complete = true;
  }

  /** No text follows at once, so the held text is not the beginning of a stop sequence. */
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

  /** The engine's reason for ending. Throws when the reason is not the end of an answer. */
  addFinish(reason: string): void {
    this.#splitter?.end(this.#events);
    this.#showHeld();
    if (this.#stopped) {
      return; // the stop sequence has ended the answer, whatever else the engine met
    }
    this.#toolCalls.end(this.#events);
    this.#finish = finishReason(reason, this.#toolCalls.any);
    if (this.#finish === undefined) {
      throw engineFailed(`${this.#traits.where} broke off: finish reason ${reason}`, true);
    }
  }

  /** Takes a count. A count that comes with the finish or after it is that of the complete answer. */
  addUsage(usage: EngineUsage): void {
    this.#usage = usage;
    const answered = this.#answered || this.#events.length > 0;
    if (this.#finish !== undefined) {
      this.#counted = usage.outputTokens > 0 || !answered;
    }
  }

  /** The engine reported something that is not a count. */
  addNoCount(): void {
    this.#implausible = "told a count that is no whole number";
  }

  /**
   * The stream has ended. Throws unless the answer has its end and its count. An answer that a stop sequence ended may
   * have a lower bound instead.
   */
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

  /** The answer is complete, but the engine will not count it: its lower bound is final. */
  concludeUncounted(reason: string): void {
    this.addFinish(reason);
    this.complete = true;
    this.#fresh = true;
  }

  /** The output since the last call. Undefined: nothing new came. */
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
