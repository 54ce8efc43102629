const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

interface Kind {
  /** How long it is tried. A link that has ended helps nobody. */
  readonly keepMs: number;
  /** What its template may name, beside `site`, `support` and `console`. */
  readonly values: readonly string[];
}

/** Every kind of mail, with the name of its template. */
export const mailKinds = {
  "sign-in-link": { keepMs: 10 * minute, values: ["url", "minutes"] },
  invitation: { keepMs: 3 * day, values: ["url", "account", "inviter", "role"] },
  "low-balance": { keepMs: 3 * day, values: ["account", "balance_usd", "threshold_usd"] },
  "balance-exhausted": { keepMs: 3 * day, values: ["account", "balance_usd"] },
  "payment-taken": { keepMs: 3 * day, values: ["account", "amount_usd", "reference"] },
  "auto-top-up-declined": { keepMs: 3 * day, values: ["account", "amount_usd", "reason", "declines"] },
  "key-budget": {
    keepMs: 3 * day,
    values: ["account", "name", "percent", "limit_usd", "spent_usd", "per", "resets_at"],
  },
  "key-expires": { keepMs: 3 * day, values: ["account", "name", "expires_at"] },
  "account-frozen": { keepMs: 3 * day, values: ["account", "reason"] },
} as const satisfies Record<string, Kind>;

export type MailKind = keyof typeof mailKinds;
type ValueOf<Of extends MailKind> = (typeof mailKinds)[Of]["values"][number];

/** What a kind's template is filled with. */
export type MailValues<Of extends MailKind = MailKind> = Readonly<Record<ValueOf<Of>, string>>;

export function isMailKind(text: string): text is MailKind {
  return Object.hasOwn(mailKinds, text);
}
