/** Who pays for a call, known once its credential has been checked. */
export interface Caller {
  readonly kind: "caller";
  readonly accountId: string;
  /** The key's id. Empty: a service token. */
  readonly keyId: string;
  /** The key's own requests a minute. Undefined: the account's tier decides. */
  readonly rpm?: number;
  /** The only models that it may use. Undefined: all. */
  readonly models?: ReadonlySet<string>;
}

/** The operator, who runs the service. */
export interface Operator {
  readonly kind: "operator";
}

/** Whoever made a call. */
export type Principal = Caller | Operator;

/** Knows credentials. */
export interface Authenticator {
  /**
   * Tells who presents a credential: the operator token, an API key, or a service token, which needs
   * the id of the account that pays. Throws UNAUTHENTICATED or PERMISSION_DENIED.
   */
  authenticate(credential: string, payingAccountId: string | undefined): Promise<Principal>;
}
