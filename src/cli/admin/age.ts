import type { Message } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Io } from "../shared/io.ts";

/** How old the answers of a command are that a standby gave. Read from their field `as_of`: the header would load fetch. */
export class Age {
  /** The oldest moment that an answer is of. Infinity: all are of the moment when they were given. */
  #asOf = Number.POSITIVE_INFINITY;

  /** Takes note of a message and returns it. */
  note<Answer extends Message>(message: Answer): Answer {
    const { asOf } = message as Message as { readonly asOf?: Timestamp };
    if (asOf !== undefined) {
      this.#asOf = Math.min(this.#asOf, timestampMs(asOf));
    }
    return message;
  }

  async *noteAll<Answer extends Message>(messages: AsyncIterable<Answer>): AsyncGenerator<Answer> {
    for await (const message of messages) {
      yield this.note(message);
    }
  }

  /** Tells people, who see it beside the answer. */
  tell(io: Pick<Io, "note">): void {
    if (Number.isFinite(this.#asOf)) {
      io.note(`as of ${new Date(this.#asOf).toISOString()}: a standby told it`);
    }
  }
}
