/** How a model was served. */
export interface ModelHistory {
  readonly model: string;
  readonly days: readonly { readonly date: string; readonly availability: number }[];
  /** Undefined: nothing was asked for. */
  readonly availability: number | undefined;
  readonly firstTokenP50Ms: number | undefined;
  readonly firstTokenP99Ms: number | undefined;
}

/** A time in which a server was down. */
export interface Incident {
  readonly model: string;
  readonly began: Date;
  /** Undefined: it is still down. */
  readonly ended: Date | undefined;
}

/** The last 90 days. */
export interface ServiceHistory {
  readonly models: readonly ModelHistory[];
  readonly incidents: readonly Incident[];
  /** Of today and yesterday, as listings count it. Undefined: nothing was asked for. */
  readonly availability: number | undefined;
}
