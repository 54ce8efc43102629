/** What the contract of surfaces asks each of them, and what it answers in its own terms. */
export interface SurfaceSample {
  /** Headers by which its clients are known. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its endpoint that generates, and a request in order. */
  readonly path: string;
  readonly body: object;
  /** Reads a body of an error strictly, and tells its kind and message. */
  readonly readError: (json: unknown) => { readonly kind: string; readonly message: string };
  /** Reads a whole event stream strictly, and tells its text; throws at what a client could not take. */
  readonly readStream: (events: string) => string;
  readonly refusals: Readonly<Record<Refusal, readonly [status: number, kind: string]>>;
}

/** Every way in which a surface refuses a request that the contract knows. */
export type Refusal =
  | "unknown path"
  | "wrong method"
  | "malformed"
  | "too large"
  | "bad JSON"
  | "unsupported media"
  | "no key"
  | "model not found"
  | "rate-limited"
  | "exhausted"
  | "overloaded"
  | "shutting down";
