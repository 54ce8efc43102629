import type { SqlEntityManager } from "@mikro-orm/sql";
import type { MailKind } from "./kinds.ts";

/** Who gets the mail of an account. */
export interface Recipients {
  /** The account's name for people, and the addresses that want this kind of mail. Undefined: there is no such account. */
  of(em: SqlEntityManager, accountId: string, kind: MailKind): Promise<AccountRecipients | undefined>;
}

export interface AccountRecipients {
  readonly name: string;
  readonly addresses: readonly string[];
}
