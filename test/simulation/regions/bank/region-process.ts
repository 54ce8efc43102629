import { SimulatedProcess } from "../../world/process.ts";

/** A process whose monotonic clock may jump, as one may that is moved to another machine. */
export class RegionProcess extends SimulatedProcess {
  /** What its monotonic clock shows beyond the time that has passed for it. */
  jumpedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.jumpedMs;
  }
}
