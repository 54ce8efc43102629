import type { BodyBudget } from "./body-budget.ts";
import type { BodyPace } from "./body-pace.ts";

/** What keeps the bodies of all requests within bounds. */
export interface BodyLimits {
  readonly budget: BodyBudget;
  readonly pace: BodyPace;
}
