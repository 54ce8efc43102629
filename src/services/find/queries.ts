import { validate as isUuid } from "uuid";
import { toRequestId } from "#lib/ids/request-id.ts";
import { toNameKey } from "#src/storage/entities/account.ts";
import type { Found } from "./found.ts";

/** What is looked for. */
export interface Asked {
  readonly text: string;
  /** The account to stay in. Empty: all. */
  readonly accountId: string;
  /** Whether accounts are found by their names, too, and told with them. */
  readonly namesAccounts: boolean;
  /** The most of each kind. */
  readonly limit: number;
}

/** A search in one table, whose rows have id, name and account_id. */
export interface Search {
  readonly kind: Found["kind"];
  readonly from: string;
  /** The column of the account. */
  readonly account: string;
  readonly where: string;
  readonly parameters: readonly unknown[];
  readonly order: string;
}

/** The searches for a text: requests first, then what is named exactly before what only contains it. */
export function queriesFor(dialect: "sqlite" | "postgresql", { text, namesAccounts }: Asked): Search[] {
  return [
    ...requests(dialect, text),
    ...accounts(dialect, text, namesAccounts),
    ...keys(dialect, text),
    ...payments(text),
  ];
}

/**
 * By whole ids alone: there may be millions. The sign keeps SQLite, which
 * has no statistics, from reading all requests of the account.
 */
function requests(dialect: "sqlite" | "postgresql", text: string): Search[] {
  const id = toRequestId(text);
  const search = (table: string): Search => ({
    kind: "request",
    from: `select request_id as id, model as name, account_id from ${table}`,
    account: dialect === "sqlite" ? "+account_id" : "account_id",
    where: "request_id = ?",
    parameters: [id],
    order: "",
  });
  return [search("usage"), search("request_record")];
}

function accounts(dialect: "sqlite" | "postgresql", text: string, areNamed: boolean): Search[] {
  const name = areNamed ? "name" : "null as name";
  const search = (where: string, ...parameters: unknown[]): Search => ({
    kind: "account",
    from: `select id, ${name}, id as account_id from account`,
    account: "id",
    where,
    parameters,
    order: closestFirst("name_key"),
  });
  if (isUuid(text)) {
    return [search("id = ?", text.toLowerCase())];
  }
  const isWithin = dialect === "sqlite" ? "instr(name_key, ?) > 0" : "position(?::bytea in name_key) > 0";
  const isId = /^[0-9a-f-]{4,}$/i.test(text);
  const byId = isId ? [search("cast(id as text) like ?", `%${text.toLowerCase()}%`)] : [];
  return [...(areNamed ? [search(isWithin, toNameKey(text))] : []), ...byId];
}

function keys(dialect: "sqlite" | "postgresql", text: string): Search[] {
  const search = (where: string, ...parameters: unknown[]): Search => ({
    kind: "key",
    from: "select id, name, account_id, prefix || '…' || last4 as mark from api_key",
    account: "account_id",
    where,
    parameters,
    order: closestFirst("name"),
  });
  if (isUuid(text)) {
    return [search("id = ?", text.toLowerCase())];
  }
  // Escaped: one wider character would double the memory of the whole bundle's text. Names may look like whole keys.
  const whole = /^([a-z0-9]{1,12}[-_][0-9A-Za-z]{4})[0-9A-Za-z\u2026]{1,45}([0-9A-Za-z]{4})$/.exec(text);
  return [
    ...(whole === null ? [] : [search("prefix = ? and last4 = ?", whole[1], whole[2])]),
    ...(/^[0-9A-Za-z]{4}$/.test(text) ? [search("last4 = ?", text)] : []),
    ...(/^[a-z0-9]{1,12}[-_][0-9A-Za-z]{4}$/.test(text) ? [search("prefix = ?", text)] : []),
    // SQLite knows the other case of ASCII alone; of all other letters the case is as it was typed.
    search(dialect === "sqlite" ? "instr(lower(name), lower(?)) > 0" : "position(lower(?) in lower(name)) > 0", text),
  ];
}

/** Of what contains a text, the shortest is the most like it. Among equals the newest comes first. */
function closestFirst(column: string): string {
  return `order by length(${column}), id desc`;
}

function payments(text: string): Search[] {
  return [
    {
      kind: "payment",
      from: "select reference as id, kind as name, account_id from payment",
      account: "account_id",
      where: "reference = ?",
      parameters: [text],
      order: "",
    },
  ];
}
