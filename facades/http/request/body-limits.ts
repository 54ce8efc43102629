import type { Drains } from "#lib/door/drain.ts";
import type { UnreadAnswers } from "#lib/net/unread-answers.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { BodyPace } from "./body-pace.ts";

/** The bounds of the bodies of all requests and answers. */
export interface BodyLimits {
  readonly budget: BodyBudget;
  readonly pace: BodyPace;
  /** Reads the bodies of refused requests. */
  readonly drains: Drains;
  /** Bounds the answers that wait for their readers. */
  readonly unread: UnreadAnswers;
}
