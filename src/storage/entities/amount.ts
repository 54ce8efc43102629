import { p } from "@mikro-orm/core";

/** The largest whole number that JavaScript holds exactly: about 9,007 USD in pico-USD. */
export const maxAmount = Number.MAX_SAFE_INTEGER;

/** A column of pico-USD whose values a JavaScript number holds exactly. A check must bound it. */
export const amount = () => p.bigint("number");
