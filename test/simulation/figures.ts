import type { Outcome } from "./simulate.ts";

/** The totals of many worlds. */
export interface Figures {
  readonly worlds: number;
  readonly requests: number;
  readonly admitted: number;
  readonly faults: number;
  readonly events: number;
  readonly simulatedHours: number;
  readonly violations: number;
}

export const noFigures: Figures = {
  ...{ worlds: 0, requests: 0, admitted: 0, faults: 0, events: 0, simulatedHours: 0, violations: 0 },
};

export function addOutcome(to: Figures, outcome: Outcome): Figures {
  return {
    worlds: to.worlds + 1,
    requests: to.requests + outcome.requests,
    admitted: to.admitted + outcome.admitted,
    faults: to.faults + outcome.faults,
    events: to.events + outcome.events,
    simulatedHours: to.simulatedHours + outcome.simulatedMs / 3_600_000,
    violations: to.violations + outcome.violations.length,
  };
}
