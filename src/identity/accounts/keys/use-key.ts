import { validate as isUuid } from "uuid";
import type { ApiKey } from "#src/storage/entities/api-key.ts";

/** The key after which a list by last use continues: its time, or "-" for one that was never used, and its id. */
export function toUseKey({ id, lastUsedAt }: Pick<ApiKey, "id" | "lastUsedAt">): string {
  return `${lastUsedAt?.getTime() ?? "-"} ${id}`;
}

/** Whether a text is such a key. */
export function isUseKey(text: string): boolean {
  const [time = "", id = "", ...rest] = text.split(" ");
  return /^(-|\d{1,15})$/.test(time) && isUuid(id) && rest.length === 0;
}

export function readUseKey(text: string): { readonly usedAt: Date | undefined; readonly id: string } {
  const [time = "", id = ""] = text.split(" ");
  return { usedAt: time === "-" ? undefined : new Date(Number(time)), id };
}
