/** All types of events, and when they happen. Types are added, never renamed. */
export const eventTypes = {
  "account.topped_up": "A payment came in.",
  "account.granted": "An account was given money, by an operator or as the free tier's grant.",
  "account.refunded": "Unspent paid money went back.",
  "payment.disputed": "A payment is disputed: its money was taken out, and the account is frozen.",
  "refund.failed":
    "A refund through the payment provider failed: its money is in the account again, a closed one, too.",
  "auto_top_up.declined": "The saved card of an account was declined.",
  "account.frozen": "An account was frozen: nothing new runs for it.",
  "account.unfrozen": "A frozen account runs again.",
  "balance.low": "A balance fell below the account's threshold; once a crossing.",
  "balance.exhausted": "A balance cannot pay for a request any more; once a crossing.",
  "key.created": "An API key was made.",
  "key.rotated": "A key was made that takes another's place.",
  "key.revoked": "An API key was ended.",
  "key.limit": "A key has spent 80 %, or all, of its budget; twice a window.",
  "key.expires_soon": "A key expires in seven days, or in a tenth of its time if that is less; once.",
  "price.changed": "A model's live price changed.",
  "server.down": "An inference server failed its health checks.",
  "server.up": "An inference server that was down is back.",
  "books.proved": "The books were proved.",
  "books.failed": "The books were found not to add up.",
  "webhook.test": "An operator sent a test to one endpoint; the others are not told.",
} as const;

/** A type of events. */
export type EventType = keyof typeof eventTypes;

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(eventTypes, text);
}

/** The events of accounts that mails tell of. */
export const mailedEvents = [
  "balance.low",
  "balance.exhausted",
  "account.topped_up",
  "auto_top_up.declined",
  "key.limit",
  "key.expires_soon",
  "account.frozen",
] as const satisfies EventType[];

/** A type of events that mails tell of. */
export type MailedEvent = (typeof mailedEvents)[number];

export function isMailedEvent(text: string): text is MailedEvent {
  return (mailedEvents as readonly string[]).includes(text);
}
