/** The composition roots: what runs in one process and what runs apart is decided here and nowhere else. */
export { core } from "./core-process.ts";
export { type DocumentationOptions, documentation } from "./documentation.ts";
export { facade } from "./facade.ts";
export type { CoreOptions, FacadeOptions, ProcessOptions, ServeOptions } from "./options.ts";
export { serve } from "./serve.ts";
export { type SimulateOptions, type SimulateStripeOptions, simulate, simulateStripe } from "./simulate.ts";
