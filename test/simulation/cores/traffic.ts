import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Rates } from "#src/money/model/rates.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import type { Caller } from "#src/wire/principal.ts";
import type { Dice } from "../world/dice.ts";
import type { History } from "../world/history.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Customer } from "./customers.ts";
import type { Door } from "./door.ts";
import type { Keys } from "./keys.ts";
import { drawStated } from "./labels.ts";
import { type Life, type Machine, modelNames } from "./machine.ts";
import { type Run, toCharged } from "./run.ts";

/** Faults of engines. Values are probabilities for each request. */
export interface EngineFaults {
  /** Counts more than the cap. */
  lies: number;
  /** Reports a number that cannot be a count. */
  nonsense: number;
}

const dayMs = 86_400_000;

/** Sends requests to the serving cores, and simulates the engines that answer them. */
export class Traffic {
  readonly runs: Run[] = [];
  readonly engines: EngineFaults = { lies: 0, nonsense: 0 };
  /** The highest rates so far, by model: no token of an admitted request may cost more. */
  readonly dearest = new Map<string, Rates>();
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #history: History;
  readonly #machines: readonly Machine[];
  readonly #customers: readonly Customer[];
  /** Undefined: keys are never looked up. */
  keys: Keys | undefined;
  /** Called with each refusal, and the most that the request may cost at the highest prices so far. */
  onRefused: (run: Run, worst: number) => void = () => {};
  /** The same for each admitted request, before its engine has it. */
  onAdmitted: (run: Run, worst: number) => void = () => {};
  /** Draws which earlier requests are asked again. Undefined: none is. */
  readonly #again: Dice | undefined;
  /** Draws who uses the service. Undefined: requests do not say. */
  readonly #users: Dice | undefined;
  /** Draws which engines count prompts at the end alone, and what they bound them by. */
  readonly #bounds: Dice;
  #labelled = 0;
  #meanMs = 10;
  #stopped = false;

  constructor(parts: {
    timeline: Timeline;
    dice: Dice;
    history: History;
    machines: readonly Machine[];
    customers: readonly Customer[];
    asksAgain: boolean;
    hasLabels: boolean;
  }) {
    this.#users = parts.hasLabels ? parts.dice.fork("users") : undefined;
    this.#bounds = parts.dice.fork("bounds of prompts");
    this.#again = parts.asksAgain ? parts.dice.fork("again") : undefined;
    this.#timeline = parts.timeline;
    this.#dice = parts.dice;
    this.#history = parts.history;
    this.#machines = parts.machines;
    this.#customers = parts.customers;
  }

  /** Sends requests continually, at this mean interval. */
  begin(meanMs: number): void {
    this.#meanMs = meanMs;
    this.#stopped = false;
    this.#next();
  }

  stop(): void {
    this.#stopped = true;
  }

  #next(): void {
    this.#timeline.after(this.#dice.exponential(this.#meanMs), () => {
      if (!this.#stopped) {
        this.#next();
        this.#send();
      }
    });
  }

  #send(): void {
    const machine = this.#dice.pick(this.#machines);
    const { life, name } = machine;
    const customer = this.#dice.pickWeighted(this.#customers);
    const caller = this.keys?.findOld(customer) ?? this.#dice.pick(customer.callers);
    const model = this.#dice.pick(modelNames);
    const size = this.#dice.chance(0.05) ? 20_000 : 800;
    const wanted = { inputTokens: this.#dice.between(1, size), outputTokens: this.#dice.between(0, size) };
    // A client that retries sends the same id again, perhaps to another core.
    const again =
      (this.#dice.chance(0.02) ? this.runs.at(-this.#dice.between(1, 20)) : undefined) ?? this.#findEarlier();
    const requestId =
      again?.accountId === caller.accountId ? again.requestId : `req_${this.#dice.uuid().replaceAll("-", "")}`;
    if (life === undefined || !life.process.alive) {
      return;
    }
    const run: Run = {
      ...{ requestId, accountId: caller.accountId, budget: caller.budget, model, machine: name },
      ...{ process: life.process, askedAt: this.#timeline.now, hold: undefined, counted: [], state: "asked" },
      ...{ terms: { input: 0, output: 0 }, admitted: wanted, settled: undefined, mayBeLost: false, refusal: undefined },
      ...{
        keyId: caller.keyId,
        stated: this.#users && drawStated(this.#users),
        labelled: undefined,
        lies: false,
        lookedUpAt: undefined,
        enteredAt: undefined,
        left: undefined,
        settledAt: undefined,
        answeredAt: undefined,
        told: undefined,
      },
      tokenBound: wanted.inputTokens + wanted.outputTokens,
    };
    this.runs.push(run);
    if (!machine.lookUp(() => life.process.reach(() => void this.#ask(run, life, caller, wanted)))) {
      run.state = "refused";
    }
  }

  /** A request of any time, which a facade asks again. Undefined: mostly. */
  #findEarlier(): Run | undefined {
    const asked = this.#again;
    return asked?.chance(0.01) && this.runs.length > 0 ? asked.pick(this.runs) : undefined;
  }

  async #ask(run: Run, life: Life, caller: Customer["callers"][number], wanted: ChargedTokens): Promise<void> {
    const { money } = life;
    const exact = Math.max(1, Math.floor(wanted.inputTokens / 2));
    const client = new AbortController();
    if (this.#dice.chance(0.02)) {
      life.process.after(this.#dice.exponential(100), () => client.abort());
    }
    let leave = (_tokens: number) => {};
    try {
      const known = life.door === undefined ? caller : await this.#recognize(run, life.door, caller);
      const limits = await money.rateLimits.begin(known, run.tokenBound);
      run.enteredAt = this.#timeline.now;
      leave = (tokens) => {
        run.left = { at: this.#timeline.now, tokens };
        limits.leave(tokens);
      };
      const { requestId, model } = run;
      const labels = this.#label(run, life);
      const { accountId, keyId, budget } = caller;
      run.hold = await money.ledger.hold(
        {
          requestId,
          accountId,
          keyId,
          budget,
          model,
          labels,
          ...wanted,
          ...(this.#dice.chance(0.5) && { countInput: async () => exact }),
        },
        client.signal,
      );
    } catch (error) {
      leave(0);
      run.state = "refused";
      run.answeredAt = this.#timeline.now;
      if (client.signal.aborted) {
        return;
      }
      run.refusal = Reason[readDetail(error)?.reason ?? 0] ?? "";
      if (run.refusal === "UNSPECIFIED" && !isUnreachable(error)) {
        this.#history.violation("reasons", `a request was refused without a reason: ${(error as Error).stack}`);
      }
      this.onRefused(run, this.#worstOf(run, wanted));
      return;
    }
    run.answeredAt = this.#timeline.now;
    this.onAdmitted(run, this.#worstOf(run, wanted));
    run.state = "held";
    life.process.requests++;
    run.terms = this.dearest.get(run.model) ?? { input: 0, output: 0 };
    run.admitted = { inputTokens: wanted.inputTokens, outputTokens: run.hold.outputTokens };
    if (this.#dice.chance(0.03)) {
      run.hold.release(); // no server could be reached
      run.state = "released";
      life.process.requests--;
      leave(0);
      return;
    }
    this.#generate(run, life, exact, leave);
  }

  #worstOf({ model }: Run, { inputTokens, outputTokens }: ChargedTokens): number {
    const { input, output } = this.dearest.get(model) ?? { input: 0, output: 0 };
    return inputTokens * input + outputTokens * output;
  }

  /** Settles what a request says of who uses the service, as the core's inference service does. */
  #label(run: Run, { money, clock }: Life): string | undefined {
    if (run.stated === undefined) {
      return undefined;
    }
    const day = Math.floor(clock.now() / dayMs);
    run.labelled = { labels: money.labels.settle(run.accountId, run.stated), day, before: this.#labelled++ };
    return run.labelled.labels;
  }

  #recognize(run: Run, door: Door, caller: Caller): Promise<Caller> {
    run.lookedUpAt = this.#timeline.now;
    return door.recognize(caller, this.keys?.credentialOf(caller) ?? "");
  }

  /** Simulates an engine that answers piece by piece. */
  #generate(run: Run, { process }: Life, inputTokens: number, leave: (tokens: number) => void): void {
    const { hold } = run;
    if (hold === undefined) {
      return;
    }
    const passes = this.#dice.chance(this.engines.lies) ? 3 : 1;
    run.lies = passes > 1;
    const all = Math.floor(hold.outputTokens * this.#dice.fraction() * passes);
    const pieces = this.#dice.between(1, 6);
    const pieceMs = Math.min(this.#dice.exponential(this.#dice.chance(0.1) ? 3000 : 150), 5000);
    const nonsense = this.#dice.chance(this.engines.nonsense);
    // Some count the prompt at the end alone: until then there is a bound on it.
    const bound = this.#bounds.chance(0.2) ? Math.floor(inputTokens * this.#bounds.fraction()) : undefined;
    run.lies ||= nonsense;
    let piece = 0;
    const step = () => {
      piece++;
      let tokens: ChargedTokens = { inputTokens, outputTokens: Math.floor((all * piece) / pieces) };
      if (nonsense && piece === pieces) {
        tokens = this.#dice.pick([
          { inputTokens, outputTokens: Number.NaN },
          { inputTokens: -5, outputTokens: 1e300 },
          { inputTokens: 0.5, outputTokens: 2 ** 60 },
        ]);
      }
      const isBound = bound !== undefined && piece < pieces;
      const known = isBound ? { ...tokens, inputTokens: bound, isLowerBound: true as const } : tokens;
      run.counted.push({ at: this.#timeline.now, tokens: toCharged(known, run), isBound });
      try {
        hold.progress(known);
      } catch (error) {
        this.#history.note(`${run.requestId} could not go on: ${(error as Error).message}`);
      }
      if (piece < pieces) {
        process.after(pieceMs, step);
      } else {
        void this.#settle(run, tokens, leave);
      }
    };
    process.after(pieceMs, step);
  }

  async #settle(run: Run, tokens: ChargedTokens, leave: (tokens: number) => void): Promise<void> {
    const status = this.#dice.pick(["completed", "completed", "cancelled", "failed"] as const);
    run.state = "settling";
    run.settled = { tokens: toCharged(tokens, run), status };
    try {
      run.told = (await run.hold?.settle(tokens, status))?.cost;
      run.state = "acknowledged";
      run.settledAt = this.#timeline.now;
    } catch (error) {
      run.state = "failed";
      this.#history.note(`${run.requestId} could not be settled: ${(error as Error).message}`);
    }
    run.process.requests--;
    leave(run.settled.tokens.inputTokens + run.settled.tokens.outputTokens);
  }
}
