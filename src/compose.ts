/** The composition roots: what runs in one process and what runs apart is decided here and nowhere else. */
export { core } from "./compose/core-process.ts";
export { type DocumentationOptions, documentation } from "./compose/documentation.ts";
export { facade } from "./compose/facade.ts";
export type { CoreOptions, FacadeOptions, ProcessOptions, ServeOptions } from "./compose/options.ts";
export { serve } from "./compose/serve.ts";
export { type SimulateOptions, simulate } from "./compose/simulate.ts";
