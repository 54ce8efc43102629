/** A thing that was found. */
export interface Found {
  readonly kind: "request" | "account" | "key" | "payment" | "model" | "server";
  readonly id: string;
  /** Empty: none. */
  readonly name: string;
  /** Empty: it belongs to none. */
  readonly accountId: string;
  /** Of a key: its prefix and its last four characters. */
  readonly mark?: string;
}
