import type { Clock } from "#lib/time/clock.ts";
import type { InferenceObserver } from "./interface.ts";

/** Tells how long each request waited for its first token, in milliseconds, beside what another observer is told. */
export function watchFirstTokens(
  observer: InferenceObserver,
  clock: Pick<Clock, "monotonic">,
  told: (model: string, ms: number) => void,
): InferenceObserver {
  return {
    received() {
      const generation = observer.received();
      const receivedAt = clock.monotonic();
      return {
        began(model) {
          generation.began(model);
          told(model, clock.monotonic() - receivedAt);
        },
        ended: (model, usage) => generation.ended(model, usage),
        unbilled: (model) => generation.unbilled(model),
      };
    },
  };
}
