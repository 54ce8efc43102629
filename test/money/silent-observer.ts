import type { MeteringObserver } from "#src/money/model/observer.ts";

/** Listens to nothing. */
export const silentObserver: MeteringObserver = {
  charged() {},
  uncharged() {},
  deadLettered() {},
  deadLetters() {},
  daysAhead() {},
  dayMissing() {},
  committed() {},
  refused() {},
  putBack() {},
  fenced() {},
  broken() {},
  threadEnded() {},
  reconciled() {},
  provedElsewhere() {},
};
