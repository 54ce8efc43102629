import type { SqlEntityManager } from "@mikro-orm/sql";
import type { MailedEvent } from "#src/storage/outbox/types.ts";

/** Who gets the mail of an account. */
export interface Recipients {
  /** The account's name for people, and the addresses that want mail of such events. Undefined: there is no such account. */
  of(em: SqlEntityManager, accountId: string, event: MailedEvent): Promise<AccountRecipients | undefined>;
}

export interface AccountRecipients {
  readonly name: string;
  readonly addresses: readonly string[];
}
