import { booksDoors } from "./books.ts";
import type { Doors } from "./door.ts";
import { eventsDoors } from "./events.ts";
import { keysDoors } from "./keys.ts";
import { paymentsDoors } from "./payments.ts";
import { peopleDoors } from "./people.ts";
import { usageDoors } from "./usage.ts";

/** Everything that bounds requests, tells of usage or goes out, with its doors. */
export const doors: Readonly<Record<string, Doors>> = {
  ...keysDoors,
  ...peopleDoors,
  ...paymentsDoors,
  ...booksDoors,
  ...usageDoors,
  ...eventsDoors,
};
