import { Outbox } from "#src/delivery/webhooks/outbox.ts";

/** An answer of the outbox that is kept from whoever asked. */
class HeldAnswer {
  readonly #came = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  /** Resolves once the database has answered. */
  readonly came = this.#came.promise;

  release(): void {
    this.#released.resolve();
  }

  async keep(): Promise<void> {
    this.#came.resolve();
    await this.#released.promise;
  }
}

/** An outbox whose next answers come as late as a test wants: those of a busy database. */
export class LateOutbox extends Outbox {
  readonly #late: Record<"due" | "finish", HeldAnswer[]> = { due: [], finish: [] };

  /** Holds back the answer to the next question of a kind, behind those held back before it. */
  holdBack(question: "due" | "finish"): HeldAnswer {
    const answer = new HeldAnswer();
    this.#late[question].push(answer);
    return answer;
  }

  override async due(...parameters: Parameters<Outbox["due"]>): ReturnType<Outbox["due"]> {
    const held = this.#late.due.shift();
    const due = await super.due(...parameters);
    await held?.keep();
    return due;
  }

  override async finish(...parameters: Parameters<Outbox["finish"]>): ReturnType<Outbox["finish"]> {
    const held = this.#late.finish.shift();
    const status = await super.finish(...parameters);
    await held?.keep();
    return status;
  }
}
