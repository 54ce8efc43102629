import type { MeteringObserver } from "../../src/metering/observer.ts";

/** Listens to nothing. */
export const silentObserver: MeteringObserver = {
  charged() {},
  uncharged() {},
  deadLettered() {},
  deadLetters() {},
  committed() {},
  refused() {},
  fenced() {},
  broken() {},
  threadEnded() {},
  reconciled() {},
};
