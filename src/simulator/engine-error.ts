/** The details of an error beside status and message. */
export interface EngineErrorFacts {
  /** The engine's name for the kind of error. Default: what its dialect calls the status. */
  readonly type: string | undefined;
  /** The request field that is at fault. */
  readonly param: string | undefined;
  /** Further fields of the body. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  /** Seconds, for the header. */
  readonly retryAfter: number | undefined;
}

/** A refusal or failure of an engine; each dialect has its own body for it. */
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
