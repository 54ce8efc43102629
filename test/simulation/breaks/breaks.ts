import type { Break } from "./break.ts";
import { moneyBreaks } from "./money.ts";
import { nightBreaks } from "./night.ts";
import { storeBreaks } from "./store.ts";

/** Each takes a guarantee out; together they set every judge off. */
export const breaks: readonly Break[] = [...storeBreaks, ...moneyBreaks, ...nightBreaks];
