import type { DialectName } from "../options.ts";
import type { Dialect } from "./dialect.ts";
import { vllm } from "./vllm.ts";

/** The dialect of a name. */
export function dialectOf(_name: DialectName): Dialect {
  return vllm;
}
