import type { Attempt, Send } from "#src/delivery/webhooks/send.ts";
import type { Dice } from "./dice.ts";
import type { History } from "./history.ts";
import type { SimulatedProcess } from "./process.ts";

/** Milliseconds that the receiver takes for an answer, and that a sender waits for one at most. */
const answerMs = 20;
const patienceMs = 10_000;

/** A receipt as the receiver of usage events was told it. */
export interface ToldReceipt {
  readonly runId: string;
  readonly costUsd: string;
}

/** Who is told of charges: a receiver that all cores send to, which may be away and whose answers may be lost. */
export class News {
  /** What it was told, each time. */
  readonly told: ToldReceipt[] = [];
  /** Whether the receiver always answers. */
  isHealed = false;
  readonly #dice: Dice;
  readonly #history: History;

  constructor(dice: Dice, history: History) {
    this.#dice = dice;
    this.#history = history;
  }

  /** How a process sends to the receiver. */
  sendFrom(process: SimulatedProcess): Send {
    return (_url, _headers, body) => {
      const drawn = this.isHealed ? 1 : this.#dice.fraction();
      const answer = (ms: number, attempt: Attempt) =>
        new Promise<Attempt>((resolve) => process.after(ms, () => resolve(attempt)));
      if (!process.act()) {
        return new Promise(() => {}); // a dead process waits for ever
      }
      if (drawn < 0.2) {
        this.#history.fault("the receiver of usage events is away");
        return answer(patienceMs, { ok: false, error: "no answer" });
      }
      this.#take(body);
      if (drawn < 0.4) {
        this.#history.fault("the answer of the receiver of usage events is lost");
        return answer(patienceMs, { ok: false, error: "no answer" });
      }
      return answer(answerMs, { ok: true, status: 200, error: "" });
    };
  }

  #take(body: string): void {
    const events = JSON.parse(body) as { data: { run_id: string; cost_usd: string } }[];
    this.told.push(...events.map(({ data }) => ({ runId: data.run_id, costUsd: data.cost_usd })));
  }
}
