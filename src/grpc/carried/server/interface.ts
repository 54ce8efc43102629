import type { UnreadAnswers } from "../../../../lib/net/unread-answers.ts";
import type { CallSignal } from "../../call-signal.ts";
import type { ServedMethod } from "../../invoke.ts";
import type { Gate } from "../../server/gate.ts";
import type { Receiving } from "../../server/receiving.ts";
import type { Standing } from "../../server/standing.ts";
import type { Frame } from "../frames.ts";

/** What carried calls share: methods, gate and bounds. */
export interface Bounds {
  /** The methods by path. */
  readonly served: ReadonlyMap<string, ServedMethod>;
  readonly gate: Gate;
  readonly receiving: Receiving;
  readonly unread: UnreadAnswers;
  /** The running calls, so that they can be ended. */
  readonly calls: Set<CallSignal>;
}

/** The stream that carries a call. */
export interface CoreStream {
  readonly bounds: Bounds;
  readonly standing: Standing;
  /** The address at the other end. */
  readonly peer: string | undefined;
  /** Whether the caller can take more. */
  readonly hasRoom: boolean;
  send(frame: Frame): void;
  /** Forgets a call that is over. */
  delete(call: number): void;
}
