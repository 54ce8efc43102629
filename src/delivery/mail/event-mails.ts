import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Event } from "#src/storage/entities/event.ts";
import { isMailedEvent, type MailedEvent } from "#src/storage/outbox/types.ts";
import { type MailKind, type MailValues, mailKinds } from "./kinds.ts";
import { isAddress, type MailBox } from "./mail-box.ts";
import type { Recipients } from "./recipients.ts";

/** The events that mails tell of. A mail's values are those of the event's data by the same names. */
const kindOf: Readonly<Record<MailedEvent, MailKind>> = {
  "balance.low": "low-balance",
  "balance.exhausted": "balance-exhausted",
  "account.topped_up": "payment-taken",
  "account.frozen": "account-frozen",
  "auto_top_up.declined": "auto-top-up-declined",
  "key.limit": "key-budget",
  "key.expires_soon": "key-expires",
};

/** What an event tells. */
type EventData = Readonly<Record<string, unknown>>;

export interface Dependencies {
  readonly box: Pick<MailBox, "tell">;
  readonly recipients: Recipients;
}

/** Writes the mails that tell of events, in the transaction that notes the events as told. */
export class EventMails {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  async write(em: SqlEntityManager, events: readonly Event[]): Promise<void> {
    const { box, recipients } = this.#parts;
    for (const { id, type, accountId, body } of events) {
      if (!isMailedEvent(type) || !accountId) {
        continue;
      }
      const { data } = JSON.parse(body) as { data: EventData };
      if (data.undoes) {
        continue; // nobody has paid: a refund came back
      }
      const kind = kindOf[type];
      const account = await recipients.of(em, accountId, type);
      for (const address of account?.addresses.filter(isAddress) ?? []) {
        await box.tell(em, id, kind, address, readValues(kind, data, account?.name ?? ""));
      }
    }
  }
}

function readValues(kind: MailKind, data: EventData, account: string): MailValues {
  const mark = data.last4 ? `${data.prefix}…${data.last4}` : data.key_id;
  const all: EventData = { ...data, account, name: data.name || mark };
  return Object.fromEntries(mailKinds[kind].values.map((name) => [name, String(all[name] ?? "")])) as MailValues;
}
