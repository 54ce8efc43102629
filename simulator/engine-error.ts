/** The details of an error beside its status and message. */
export interface EngineErrorFacts {
  /** The engine's name for the kind of error. Default: the dialect's name for the status. */
  readonly type: string | undefined;
  /** The request field at fault. */
  readonly param: string | undefined;
  /** Further fields of the body. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  /** Seconds, for the `retry-after` header. */
  readonly retryAfter: number | undefined;
}

/** A refusal or failure of an engine. Each dialect has its own body for it. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly status: number;
  readonly facts: Partial<EngineErrorFacts>;

  constructor(status: number, message: string, facts: Partial<EngineErrorFacts> = {}) {
    super(message);
    this.status = status;
    this.facts = facts;
  }
}
