import type { Break } from "./break.ts";
import { keyBreaks } from "./keys.ts";
import { moneyBreaks } from "./money.ts";
import { newsBreaks } from "./news.ts";
import { nightBreaks } from "./night.ts";
import { orderBreaks } from "./order.ts";
import { storeBreaks } from "./store.ts";

/** Each break removes a guarantee. Together they make every judge report. */
export const breaks: readonly Break[] = [
  ...storeBreaks,
  ...moneyBreaks,
  ...nightBreaks,
  ...orderBreaks,
  ...newsBreaks,
  ...keyBreaks,
];
