import { p } from "@mikro-orm/core";

/** Largest whole number that JavaScript holds exactly: about 9,007 USD in pico-USD. */
export const maxAmount = Number.MAX_SAFE_INTEGER;

/** A column of pico-USD that stays within what a JavaScript number holds exactly; a check must bound it. */
export const amount = () => p.bigint("number");
