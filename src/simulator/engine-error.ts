/** A refusal or failure as an engine tells it; each dialect has its own body for it. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly status: number;
  /** The engine's name for the kind of error. Default: the one its dialect has for the status. */
  readonly type: string | undefined;
  /** The request field that is at fault. */
  readonly param: string | undefined;
  /** Further fields of the body. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;

  constructor(
    status: number,
    message: string,
    facts: { type?: string; param?: string; extra?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message);
    this.status = status;
    this.type = facts.type;
    this.param = facts.param;
    this.extra = facts.extra;
  }
}
