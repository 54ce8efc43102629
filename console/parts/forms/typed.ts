import { maxPicoUsd, maxRate, parseRate, parseUsd } from "../../../lib/money/money.ts";

const picoPerUsd = 10n ** 12n;

/** Reads a typed whole number. Undefined: the text is empty. Throws an error that says what is wrong. */
export function readWhole(text: string, name: string): number | undefined {
  const typed = text.trim();
  if (typed === "") {
    return undefined;
  }
  const digits = /^\d{1,3}([,_ ]\d{3})+$/.test(typed) ? typed.replace(/[,_ ]/g, "") : typed;
  if (!/^[1-9]\d{0,8}$/.test(digits)) {
    throw new Error(`${name} has to be a whole number above zero and below 1,000,000,000. Leave it empty for none.`);
  }
  return Number(digits);
}

/** Reads a typed amount, in pico-USD. Undefined: the text is empty. Throws an error that says what is wrong. */
export function readUsd(text: string, name: string): bigint | undefined {
  return text.trim() === "" ? undefined : readAmount(text, name, maxPicoUsd, " Leave it empty for none.");
}

/** As readUsd, where there has to be an amount. `most`: the largest, in pico-USD. */
export function requireUsd(text: string, name: string, most = maxPicoUsd): bigint {
  return readAmount(text, name, most);
}

/** Reads a typed price of 1M tokens, in pico-USD a token. Undefined: it is none, or above what a price may be. */
export function readRate(text: string): bigint | undefined {
  const rate = parseRate(text.trim());
  return rate === undefined || rate > maxRate ? undefined : rate;
}

/** What a typed price has to be. */
export const rateForm = "decimal USD per 1M tokens from 0 to 1000 with at most six decimals, such as 0.25";

function readAmount(text: string, name: string, most: bigint, advice = ""): bigint {
  const pico = parseUsd(text.trim());
  if (pico === undefined || pico === 0n || pico > most) {
    const bound = most / picoPerUsd;
    throw new Error(
      `${name} has to be USD above 0 and below ${bound}, with at most 12 decimals, such as 20 or 4.99.${advice}`,
    );
  }
  return pico;
}
