import { SimulatedProcess } from "../../world/process.ts";

/** A process whose monotonic clock may jump, as when it is moved to another machine. */
export class RegionProcess extends SimulatedProcess {
  /** What its monotonic clock shows beyond its real running time. */
  jumpedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.jumpedMs;
  }
}
